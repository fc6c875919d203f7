"""Notebooks in a kernel of this environment, executed as "Run all" and nbclient do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nbformat
from cells import REPORT_WORDS
from forking.kernels import forked_kernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

PROLOGUE = "%load_ext inplace_magic\nimport torch"


def execute(
    cells: Sequence[str], *, allow_errors: bool, settings: Config | None = None, prologue: str = PROLOGUE
) -> list[Any]:
    """Executes a notebook of these cells after the prologue; gives back the executed cells, without the prologue.

    Args:
        cells: the text of each.
        allow_errors: whether to go on behind a cell that fails.
        settings: of another kernel than a forked one.
        prologue: of cells that have another beginning of their own.

    Raises:
        CellExecutionError: a cell failed and `allow_errors` is False.
    """
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (prologue, *cells)])
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=120, allow_errors=allow_errors, config=settings or forked_kernel()
    )
    client.execute()
    nbformat.validate(notebook)
    return list(notebook.cells[1:])


def fails(cell: str) -> str:
    """The text of the failure by which "Run all" stops at this cell; empty when it does not stop."""
    try:
        execute([cell], allow_errors=False)
    except CellExecutionError as error:
        return str(error)
    return ""


def kinds(cell: Any) -> list[str]:
    """What a cell's outputs are, in order: ``report`` or ``answer`` for ours, else the stream's name or the output's
    type."""
    found = []
    for output in cell.outputs:
        shown = output.data if output.output_type == "display_data" else {}
        kind = "answer" if _shows_answer(shown) else "report" if _shows_report(shown) else ""
        found.append(kind or output.get("name", output.output_type))
    return found


def _shows_report(data: dict[str, str]) -> bool:
    """By its words in English, by its page in every language."""
    return REPORT_WORDS in data.get("text/plain", "") or 'class="inplace-magic"' in data.get("text/html", "")


def _shows_answer(data: dict[str, str]) -> bool:
    return data.get("text/plain", "").startswith("inplace_magic: ")


def text_of(cell: Any, kind: str) -> str:
    """All text of the outputs of one kind, see :func:`kinds`."""
    texts = []
    for output, name in zip(cell.outputs, kinds(cell), strict=True):
        if name == kind:
            texts.append(output.get("text") or "\n".join(output.get("traceback", [])) or output.data["text/plain"])
    return "".join(texts)
