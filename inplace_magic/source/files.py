"""The text of a file or cell that ran: the version that a code object was compiled from, and its lines.

A file's text is compared with the code that ran (:mod:`.versions`). If the file was edited since it was loaded, the
disk is read again; code that neither text explains stays unknown.
"""

from __future__ import annotations

import linecache
import sys
import tokenize
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from inplace_magic.source.text import Function, Text, first_line_of, text_of
from inplace_magic.source.versions import Position, Twin, explains, names_stand_in, positions, twin_of


@dataclass(eq=False)
class File:
    """A file or a cell, and the texts known of it."""

    versions: list[Text]
    """Its text and, if that is not what ran, the present text on the disk."""
    may_be_older: bool
    """Whether it can have been changed since its code was compiled; a cell cannot."""
    read_again: bool = False
    settled: bool = False
    """Whether it was tried which of several texts its code was compiled from."""
    edited: bool = False
    """Whether code of it ran that no version of the text explains."""


class Files:
    """The files and cells seen so far, by compiled file name.

    Args:
        cells: names of the cells, whose text cannot be older than their code.
    """

    def __init__(self, cells: Iterable[str]) -> None:
        self._cells = frozenset(cells)
        self.known: dict[str, File] = {}
        self._codes: dict[int, tuple[CodeType, Twin | None]] = {}
        self._positions: dict[int, tuple[CodeType, list[Position]]] = {}

    def file(self, filename: str) -> File:
        """Return a file, added on first sight."""
        if filename not in self.known:
            before, entry = _cached(filename), linecache.cache.get(filename)
            linecache.checkcache(filename)
            if before is not None and linecache.cache.get(filename) is entry:
                now, of_disk = before, True
            else:
                now = tuple(line.rstrip("\n") for line in linecache.getlines(filename))
                of_disk = _cached(filename) is not None
            older = of_disk and filename not in self._cells
            texts = [before, now] if before is not None and before != now else [now]
            self.known[filename] = File([text_of(lines) for lines in texts], older)
        return self.known[filename]

    def _settled(self, code: CodeType) -> File:
        """Return a file; if it was edited since Python read it last, keep the text that its code was compiled from."""
        file = self.file(code.co_filename)
        if len(file.versions) > 1 and not file.settled:
            file.settled = True
            explaining = [text for text in file.versions if explains(code, text)]
            if len(explaining) == 1:
                file.versions = explaining
        return file

    def position(self, code: CodeType, lasti: int) -> Position:
        """Return lines and columns of one instruction."""
        known = self._positions.get(id(code))
        if known is None:
            known = self._positions[id(code)] = code, positions(code)
        position = lasti // 2
        line, end_line, column, end_column = known[1][position] if position < len(known[1]) else (0, None, None, None)
        return line, end_line, column, end_column

    def twin(self, code: CodeType, lasti: int) -> Twin | None:
        """Return the text of an instruction; None where no version of it that can be had is the one that ran."""
        file = self._settled(code)
        if not file.may_be_older:
            return Twin(file.versions[0], code)
        if id(code) not in self._codes:
            self._codes[id(code)] = code, self._match(lambda text: twin_of(code, text), file, code)
        whole = self._codes[id(code)][1]
        if whole is not None:
            return whole
        line, _, column, _ = self.position(code, lasti)

        def stands(text: Text) -> Twin | None:
            there = not line or names_stand_in(text, code, line, column)  # nothing is quoted from no line
            return Twin(text, code) if there else None

        found = self._match(stands, file, code)
        return Twin(file.versions[0], code) if found is None and _is_rewritten(code.co_filename) else found

    def _match(self, look: Callable[[Text], Twin | None], file: File, code: CodeType) -> Twin | None:
        """Return the match among a file's known texts; read the disk again if there is none."""
        for text in file.versions:
            twin = look(text)
            if twin is not None:
                return twin
        if not file.read_again:
            file.read_again = True
            lines = _on_disk(code.co_filename)
            if lines is not None and lines != file.versions[0].lines:
                file.versions.append(text_of(tuple(lines)))
                return look(file.versions[-1])
        return None


def _cached(filename: str) -> tuple[str, ...] | None:
    """Return Python's cached lines of a file; None if there are none, or somebody put them there, as for cells."""
    entry: Any = linecache.cache.get(filename)
    on_disk = entry is not None and len(entry) == 4 and entry[1] is not None
    return tuple(line.rstrip("\n") for line in entry[2]) if on_disk and entry is not None else None


def function_of(text: Text, code: CodeType) -> Function | None:
    """Return the function of a text that a code object is."""
    name = getattr(code, "co_qualname", None)
    if name is not None:
        return text.function(name, code.co_firstlineno)
    beginning = (
        each for each in text.functions.get(code.co_name, ()) if first_line_of(each.node) == code.co_firstlineno
    )
    return next(beginning, None)


def _is_rewritten(filename: str) -> bool:
    """True if a module's loader compiles something else than the text of its file: pytest rewrites every ``assert``,
    type checkers add calls. Its lines are those of the text."""
    for module in list(sys.modules.values()):
        names = vars(module) if type(module) is ModuleType else {}
        if names.get("__file__") == filename:
            loader = getattr(names.get("__spec__"), "loader", None)
            return loader is not None and type(loader) is not SourceFileLoader
    return False


def _on_disk(filename: str) -> list[str] | None:
    try:
        with tokenize.open(filename) as file:
            return [line.rstrip("\n") for line in file]
    except (OSError, SyntaxError, ValueError):
        return None
