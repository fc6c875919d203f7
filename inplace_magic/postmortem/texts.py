"""The user's cells and files as text: which lines there are, in which order cells ran, and places in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

from inplace_magic.capture.frames import belongs_to_user, library_folders
from inplace_magic.record.places import Callsite
from inplace_magic.source.files import Files, function_of
from inplace_magic.source.places import Sources
from inplace_magic.source.text import Function, Text, text_of_cell

_MOST_CHARACTERS = 400_000
"""Of a text that is read."""


@dataclass(frozen=True)
class Cell:
    """A cell that ran."""

    filename: str
    """The name under which its code was compiled."""
    number: int | None
    """Its execution count; None where the notebook has none, as marimo's."""
    text: str
    """As it stands in the notebook."""


class Texts:
    """The texts of the user's code, read when they are asked for.

    Args:
        cells: those that ran, in the order of their execution, the failing one last; a cell that ran several times
            stands there each time. Empty for a script.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._ran = cells
        self._cells = {cell.filename: cell for cell in cells}
        numbers = {name: cell.number for name, cell in self._cells.items() if cell.number is not None}
        last = cells[-1] if cells else None
        self._sources = Sources(
            last.number if last is not None else None,
            last.filename if last is not None else None,
            last.text if last is not None else "",
            numbers,
        )
        self._files = Files(self._cells)
        self._libraries = library_folders()

    def is_users(self, filename: str) -> bool:
        """True if code that was compiled under a name is the user's."""
        return filename in self._cells or belongs_to_user(filename, self._libraries)

    def locate(self, code: CodeType, lasti: int, caller: Callsite | None) -> Callsite:
        """Return the place of an instruction that ran."""
        return self._sources.locate(code, lasti, caller)

    def text(self, filename: str) -> Text | None:
        """Return the text that was compiled under a name; None where it is not known, or no Python."""
        cell = self._cells.get(filename)
        found = (
            text_of_cell(tuple(cell.text.splitlines())) if cell is not None else self._files.file(filename).versions[0]
        )
        known = bool(found.lines) and sum(map(len, found.lines)) <= _MOST_CHARACTERS
        return found if known and found.tree is not None else None

    def function(self, code: CodeType) -> Function | None:
        """Return the definition of a function of the user's; None where no text that is known is the one that ran."""
        filename = code.co_filename
        if not self.is_users(filename):
            return None
        text = self.text(filename)
        if text is None:
            return None
        if filename not in self._cells:
            twin = self._files.twin(code, 0)
            return function_of(twin.text, twin.code) if twin is not None else None
        return function_of(text, code)

    def site(self, filename: str, node: ast.expr | ast.stmt, function: str, caller: Callsite | None) -> Callsite:
        """Return a place in a text, told by its syntax."""
        return self._sources.site(self.text(filename) or Text([]), filename, node, function, caller)

    def position(self, filename: str, place: Callsite) -> tuple[int, int | None]:
        """Return where a place begins as syntax trees count: its line, and its column in bytes where that is known."""
        text = self.text(filename)
        known = text is not None and place.column is not None and 0 < place.line <= len(text.lines)
        return place.line, len(text.lines[place.line - 1][: place.column].encode()) if text and known else None

    def programs(self, top: str | None) -> Iterator[tuple[str, ast.Module]]:
        """What ran outside of functions, in the order in which it ran: the cells, or the script.

        Args:
            top: the compiled name of the outermost code of the traceback.
        """
        names = [cell.filename for cell in self._ran]
        for name in names if top in self._cells else [*names, *([top] if top is not None else [])]:
            text = self.text(name)
            if text is not None and text.tree is not None:
                yield name, text.tree
