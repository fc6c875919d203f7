"""The quickstart, in both languages, from a fresh kernel: what it promises the reader is what the reader sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from forking.kernels import forked_kernel
from kernel_sockets import kernel_sockets
from nbclient import NotebookClient
from talking_to_kernels import kinds, text_of

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
NAMES = ["quickstart.ipynb", "zh/quickstart.ipynb"]
MEANT_TO_FAIL = "raises-exception"

PROMISED = {
    "sigmoid-fails": [
        "✗ `probs` was overwritten",
        "5 | probs = torch.sigmoid(features @ weight)  <- saved here (by SigmoidBackward0)",
        "> 6 | probs[2] = 1.0",
        "overwritten here (version 0 → 1)",
        "probs = probs.clone()",
    ],
    "sigmoid-fixed": ["✓ Nothing wrong found", "mutated in place v0→v1: [2]: 0.5 → 1"],
    "relu-inplace": [
        "o1, mutated in place v0→v1: [0, 0, 0, 0]: -2 → 0, [0, 0, 0, 1]: -1 → 0, grad_fn ReluBackward0, "
        "same object, same memory"
    ],
    "relu-ordinary": ["h1, created", "none of them in-place"],
    "two-branches": ["✎ T3 x, mutated in place v0→v1"],
    "rebinding": [
        "rebound: `x` was T3, is T5; nothing written",
        "T3 x v0 ",
        "ConvolutionBackward0.input ",
    ],
    "underscore": ["T1 t, mutated in place v0→v1: [0]: 0 → 0.5", "T2 a, created", "x, mutated in place v0→v1"],
    "leaf-fails": [
        "`a` is a leaf that requires grad",
        "with torch.no_grad():",
        "x, mutated in place v0→v1: [0]: 2 → 4",
    ],
    "leaf-fixed": ["✓ Nothing wrong found", "a, mutated in place v0→v1: [0]: 1 → 2"],
    "three-kinds": ["T2 flat, view of T1 x", "T3 turned, view of T1 x", "T1 x, mutated in place", "T4 y, created"],
    "conv-block-plain": ["none of them in-place"],
    "conv-block-twin": ["1 of them in-place", "mutated in place v0→v1"],
}
"""What the report of each watched cell of the quickstart says, by the cell's id."""


def read(name: str) -> Any:
    """A notebook as it is kept."""
    return nbformat.reads((NOTEBOOKS / name).read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types


@pytest.fixture(scope="module")
def executed() -> dict[str, Any]:
    """Every notebook after "Run all" in a kernel of its own, the second in a forked one; a cell that fails without its
    tag fails here."""
    done = {}
    for name in NAMES:
        notebook = read(name)
        settings = {"metadata": {"path": str((NOTEBOOKS / name).parent)}}
        config = forked_kernel() if done else kernel_sockets()
        client = NotebookClient(notebook, kernel_name="python3", timeout=120, resources=settings, config=config)
        client.execute()
        nbformat.validate(notebook)
        done[name] = notebook
    return done


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_watched(cell: Any) -> bool:
    return bool(cell.cell_type == "code" and cell.source.startswith("%%inplace_watch"))


@pytest.mark.parametrize("name", NAMES)
def test_every_watched_or_asked_cell_shows_one_report_and_no_other(executed: dict[str, Any], name: str) -> None:
    shown = {cell.id: kinds(cell).count("report") for cell in code_cells(executed[name])}
    asked = {cell.id: cell.source.startswith("%inplace_why") for cell in code_cells(executed[name])}
    assert shown == {cell.id: int(is_watched(cell) or asked[cell.id]) for cell in code_cells(executed[name])}


@pytest.mark.parametrize("name", NAMES)
def test_the_cells_that_fail_are_those_that_say_so(executed: dict[str, Any], name: str) -> None:
    failed = [cell.id for cell in code_cells(executed[name]) if "error" in kinds(cell)]
    assert failed == [cell.id for cell in code_cells(executed[name]) if MEANT_TO_FAIL in cell.metadata.get("tags", [])]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_to_stderr(executed: dict[str, Any], name: str) -> None:
    assert {cell.id: text_of(cell, "stderr") for cell in code_cells(executed[name]) if "stderr" in kinds(cell)} == {}


def test_the_chinese_reports_are_chinese(executed: dict[str, Any]) -> None:
    shown = [text_of(cell, "report") for cell in code_cells(executed["zh/quickstart.ipynb"]) if is_watched(cell)]
    assert len(shown) == len(PROMISED)
    assert all("torch 调用" in report or "反向传播" in report or "叶子张量" in report for report in shown)
    assert not any("Nothing wrong found" in report for report in shown)


def test_the_quickstarts_reports_answer_its_questions(executed: dict[str, Any]) -> None:
    cells = {cell.id: cell for cell in code_cells(executed["quickstart.ipynb"]) if is_watched(cell)}
    assert cells.keys() == PROMISED.keys()
    missing = {
        cell: [sentence for sentence in sentences if sentence not in text_of(cells[cell], "report")]
        for cell, sentences in PROMISED.items()
    }
    assert {cell: sentences for cell, sentences in missing.items() if sentences} == {}


def test_the_quickstarts_own_tables_and_lines_show_what_its_text_says(executed: dict[str, Any]) -> None:
    cells = {cell.id: cell for cell in code_cells(executed["quickstart.ipynb"])}
    branches = cells["two-branches-calls"].outputs[0].data["text/html"]
    assert "T3 x@v1" in branches
    memory = cells["conv-block-table"].outputs[0].data["text/html"]
    assert all(number in memory for number in ("120368", "84368", "133776", "97776"))
    assert text_of(cells["rebinding-frees"], "stdout") == "read by conv2, alive: True\nread by relu, alive:  False\n"
    assert text_of(cells["leaf-fails"], "stdout") == "tensor([4., 4.]) True\n"
    assert text_of(cells["three-kinds"], "stdout") == "tensor([1., 1., 1., 1., 1., 1.])\n"
    assert "error scores scores += 1 after scores = torch.exp(w0)" in text_of(cells["with-watch"], "stdout")
