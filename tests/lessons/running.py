"""Lessons run from a fresh kernel, and what "Run all" promises of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from forking.kernels import forked_kernel
from lessons.texts import BUILD, TEXTS, legible, named
from scripts import ROOT
from talking_to_kernels import kinds, text_of

MAX_BYTES = 1_000_000
MEANT_TO_FAIL = "raises-exception"


def lessons_in(language: str) -> list[Path]:
    return [text for text in TEXTS if text.parent.name == language]


def run(text: Path) -> str:
    """Run a lesson as it is built, the first in a kernel as Jupyter starts it, the others in forked ones; return the
    text of its file."""
    content, failure = BUILD.built(text, None if text.name.startswith("01") else forked_kernel())
    assert failure == "", named(text)
    return str(content)


def code_cells(content: str) -> list[Any]:
    """The code cells of a notebook, from the text of its file."""
    notebook = nbformat.reads(content, as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def promises_of_run_all(content: str) -> None:
    """Watched cells show one report and others none, those fail that say so, and nothing goes to stderr; the file is
    small, and nothing of one run or one machine stands in it."""
    cells = code_cells(content)
    for cell in cells:
        found = kinds(cell)
        assert ("error" in found) == (MEANT_TO_FAIL in cell.metadata.get("tags", [])), cell.source
        assert "stderr" not in found, text_of(cell, "stderr")
        if cell.source.startswith("%%inplace_watch"):
            shown = [o for o in cell.outputs if 'class="inplace-magic"' in o.get("data", {}).get("text/html", "")]
            assert len(shown) == 1, cell.source
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert len(content.encode()) <= MAX_BYTES
    text = legible(content)
    assert BUILD.ADDRESS.findall(text) + BUILD.OBJECT_ID.findall(text) == []
    assert re.findall(r"site-packages|/tmp/|ipykernel_\d+", text) == []
    assert str(ROOT) not in text
