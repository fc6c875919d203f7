"""Programs that fail unwatched, as cells or as a script, and the answer to their error."""

from __future__ import annotations

import linecache
from itertools import count
from textwrap import dedent
from typing import Any

from inplace_magic.postmortem import Cell, answer_to
from inplace_magic.record.answer import Answer

_names = count(1)
START = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
"""The lines above each text, so that its own first line is the fourth."""


def lines_of(text: str, mark: str) -> list[int]:
    """The numbers of the lines of a program that carry a mark such as ``# writes``."""
    return [number for number, line in enumerate(text.splitlines(), 1) if f"# {mark}" in line]


def program(text: str) -> str:
    """A program with its imports."""
    return START + dedent(text).lstrip("\n")


class Failed:
    """What is left of a program that failed.

    Args:
        cells: the texts of the cells in order; the last one fails.
        before: names that are there already.
    """

    def __init__(self, *cells: str, **before: Any) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__", **before}
        ran = []
        self.error: BaseException | None = None
        for number, text in enumerate(cells, 1):
            name = f"<ipython-input-{next(_names)}-test>"
            linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
            ran.append(Cell(name, number, text))
            try:
                exec(compile(text.replace("%matplotlib inline", "pass"), name, "exec"), self.namespace)
            except RuntimeError as error:
                self.error = error
        self.cells = tuple(ran)
        assert self.error is not None, "the program did not fail"

    def answer(self) -> Answer | None:
        """The answer to its error."""
        assert self.error is not None
        return answer_to(self.error, namespace=self.namespace, cells=self.cells)

    def certain(self) -> Answer:
        """The answer, which there is."""
        found = self.answer()
        assert found is not None
        return found
