"""The lessons as they lie in notebooks/, read by the functions of notebooks/build.py."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

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


def shipped(text: Path) -> Any:
    """The notebook beside a text, as learners open it."""
    return json.loads(text.with_suffix(".ipynb").read_text(encoding="utf-8"))


def legible(content: str) -> str:
    """Return all that the file of a notebook says, also what its live views read; its pictures left out."""
    outputs = [output for cell in json.loads(content)["cells"] for output in cell.get("outputs", ())]
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    states = [repr(BUILD.unpacked(state)) for page in pages for state in BUILD.STATE.findall(page)]
    return "\n".join([str(BUILD.IMAGE.sub("", content)), *states])


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
