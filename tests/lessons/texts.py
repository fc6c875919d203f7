"""The lessons as they lie in notebooks/, read by the functions of notebooks/build.py."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import kept_outputs
import nbformat
from scripts import ROOT, script

NOTEBOOKS = ROOT / "notebooks"


BUILD = script("notebooks/build.py")
TEXTS: list[Path] = BUILD.texts()
EVERY: list[Path] = [*BUILD.QUICKSTART, *TEXTS]
LESSONS = sorted({text.name[:2] for text in TEXTS})
CHECK = re.compile(r'^check\("(\d+\.\d+)".*\)$', re.MULTILINE)


def named(text: Path) -> str:
    """A lesson as a test's id: ``zh/01_names_tensors_storages.md``."""
    return text.relative_to(NOTEBOOKS).as_posix()


def kept(text: Path) -> Any:
    """The notebook beside a text, as it was run."""
    return nbformat.reads(as_run(text), as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types


def shipped(text: Path) -> Any:
    """The notebook beside a text, as learners open it."""
    return json.loads(text.with_suffix(".ipynb").read_text(encoding="utf-8"))


def as_run(text: Path) -> str:
    """The file of the notebook with the outputs that are kept for it."""
    notebook = text.with_suffix(".ipynb")
    outputs = kept_outputs.beside(notebook).read_text(encoding="utf-8")
    return str(kept_outputs.put_back(notebook.read_text(encoding="utf-8"), outputs))


def legible(text: Path) -> str:
    """All that the kept notebook says, also what its live views read; its pictures left out."""
    outputs = [output for cell in kept(text).cells if cell.cell_type == "code" for output in cell.outputs]
    pages = [output["data"].get("text/html", "") for output in outputs if "data" in output]
    states = [repr(BUILD.unpacked(state)) for page in pages for state in BUILD.STATE.findall(page)]
    content = BUILD.IMAGE.sub("", as_run(text))
    return "\n".join([content, *states])


@cache
def first_cell(lesson: str) -> str:
    """The first code cell of a lesson, without the lines that install."""
    text = next(text for text in TEXTS if text.name.startswith(lesson))
    first = code_of(BUILD.notebook_of(text))[0]
    return first[first.index("import torch") :]


def code_of(notebook: Any) -> list[str]:
    """The sources of the code cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@cache
def exercise_cells(lesson: str) -> dict[str, str]:
    """The cell of each exercise of a lesson, by the exercise's key; a lesson is ``"01"``."""
    text = next(text for text in TEXTS if text.name.startswith(lesson) and text.parent.name == "en")
    found = {}
    for source in code_of(BUILD.notebook_of(text)):
        for key in CHECK.findall(source):
            found[key] = source
    return found
