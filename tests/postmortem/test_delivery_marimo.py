"""In marimo, places name the cell, and the answer is there for a cell that failed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import ROOT

from inplace_magic.record.places import Callsite

NOTEBOOK = """
import marimo
app = marimo.App()

@app.cell
def _():
    import torch
    import inplace_magic
    w = torch.ones(3, requires_grad=True)
    return torch, w, inplace_magic

@app.cell
def _(torch, w):
    h = torch.sigmoid(w)
    return (h,)

@app.cell
def _(h):
    h.add_(1)
    h.sum().backward()
    return

@app.cell
def _(inplace_magic):
    print(inplace_magic.answer())
    print(inplace_magic.why().verdict)
    return
"""


def test_a_cell_of_marimo_is_named_and_not_its_file() -> None:
    site = Callsite(5, "h.add_(1)", file="/tmp/marimo_4711/__marimo__cell_MJUe_.py")
    assert site.place == "cell MJUe, line 5"


def test_the_answer_to_a_failed_cell_names_the_cells(tmp_path: Path) -> None:
    pytest.importorskip("marimo")
    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "export", "html", "notebook.py", "-o", "notebook.html"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "inplace_magic: `h.add_(1)` (cell " in said
    assert re.search(r"@@ cell \w+:1 @@\n +-h.add_\(1\)\n +\+h = h.add\(1\)", said)
    assert "✗ `h` was overwritten (cell " in said
    assert "__marimo__" not in said
