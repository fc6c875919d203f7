"""The lessons as they lie in notebooks/, read by the functions of notebooks/build.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
    """The notebook beside a text, as it is kept."""
    return nbformat.reads(text.with_suffix(".ipynb").read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types


def legible(text: Path) -> str:
    """All that the kept notebook says, also what its live views read; its pictures left out."""
    outputs = [output for cell in kept(text).cells if cell.cell_type == "code" for output in cell.outputs]
    pages = [output["data"].get("text/html", "") for output in outputs if "data" in output]
    states = [repr(BUILD.unpacked(state)) for page in pages for state in BUILD.STATE.findall(page)]
    content = BUILD.IMAGE.sub("", text.with_suffix(".ipynb").read_text(encoding="utf-8"))
    return "\n".join([content, *states])


def code_of(notebook: Any) -> list[str]:
    """The sources of the code cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def exercise_cells(lesson: str) -> dict[str, str]:
    """The cell of each exercise of a lesson, by the exercise's key; a lesson is ``"01"``."""
    text = next(text for text in TEXTS if text.name.startswith(lesson) and text.parent.name == "en")
    found = {}
    for source in code_of(BUILD.notebook_of(text)):
        for key in CHECK.findall(source):
            found[key] = source
    return found
