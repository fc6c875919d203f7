"""The programs of ``refused.md``: each runs as a cell, and its answer is held against the marks in it."""

from __future__ import annotations

import copy
import linecache
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inplace_magic.postmortem import Cell, answer_to
from inplace_magic.record.answer import Answer

FILE = Path(__file__).parent / "refused.md"
TEXTS = Path(__file__).parent / "texts.md"
"""Texts of the errors as other versions of PyTorch have them."""
_MARK = re.compile(r"\s*# (cause|raises)(?:: (.+?))?$")


@dataclass(frozen=True)
class Program:
    """A program that raises, or a cured one."""

    code: str
    at: int
    """Line of ``refused.md`` at which it begins."""
    text: str
    """Without its marks."""
    error: str
    cause: int | None
    raises: int | None
    variable: str | None

    def __str__(self) -> str:
        return f"{self.code}:{self.at}"


def programs(file: Path = FILE) -> Iterator[Program]:
    """Yield the programs of a file in its order."""
    code, error, begun, rows = "", "", 0, []
    for number, row in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if row.startswith("## ") and not begun:
            code = row[3:]
        elif row.startswith("> ") and not begun:
            error = row[2:]
        elif row == "```python":
            begun, rows = number, []
        elif row == "```" and begun:
            yield _program(code, error, begun, rows)
            begun = 0
        elif begun:
            rows.append(row)


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield (code, version, text) of every text of :data:`TEXTS`."""
    code = ""
    for row in TEXTS.read_text(encoding="utf-8").splitlines():
        if row.startswith("## "):
            code = row[3:]
        elif row.startswith("* "):
            version, _, text = row[2:].partition(": ")
            yield code, version, text


def _program(code: str, error: str, begun: int, rows: list[str]) -> Program:
    marks = {number: match for number, row in enumerate(rows, 1) if (match := _MARK.search(row))}
    cause = next((number for number, match in marks.items() if match[1] == "cause"), None)
    raises = next((number for number, match in marks.items() if match[1] == "raises"), cause)
    variable = next((match[2] for match in marks.values() if match[2]), None)
    text = "\n".join(_MARK.sub("", row) for row in rows) + "\n"
    return Program(code, begun, text, error, cause, raises, variable)


def names_of_torch() -> dict[str, Any]:
    """Return the names that a program of PyTorch's has."""
    import numpy
    import torch

    return {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "copy": copy, "numpy": numpy}


def run(
    text: str, before: tuple[str, ...] = (), names: dict[str, Any] | None = None
) -> tuple[BaseException | None, Answer | None]:
    """Run a program as a notebook runs its cells, and return what it raised and the answer to that.

    Args:
        text: the cell.
        before: the cells that ran before it.
        names: those that it has from the beginning; else those of PyTorch's.
    """
    torch = sys.modules.get("torch")
    names = {**(names if names is not None else names_of_torch()), "__name__": "__main__"}
    cells = tuple(
        Cell(f"/tmp/ipykernel_1/{number}_{abs(hash(each))}.py", number, each)
        for number, each in enumerate((*before, text), 1)
    )
    try:
        for cell in cells:
            lines = cell.text.splitlines(keepends=True)
            linecache.cache[cell.filename] = len(cell.text), None, lines, cell.filename
            exec(compile(cell.text, cell.filename, "exec"), names)
    except Exception as error:  # what the program raises is what is asked about
        return error, answer_to(error, namespace=names, cells=cells)
    finally:
        if torch is not None:
            torch.set_grad_enabled(True)
    return None, None
