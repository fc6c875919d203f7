"""What a failure left: the error, its text, the user's frames of its traceback, names, and the cells and files as text;
and a row of the table of errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import CodeType, FrameType
from typing import Literal

from inplace_magic.capture.frames import belongs_to_user, library_folders
from inplace_magic.language import _, use_language
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import parse
from inplace_magic.source.files import function_of
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
        self.sources = Sources(
            last.number if last is not None else None,
            last.filename if last is not None else None,
            last.text if last is not None else "",
            numbers,
        )
        self._libraries = library_folders()

    def is_users(self, filename: str) -> bool:
        """True if code that was compiled under a name is the user's."""
        return filename in self._cells or belongs_to_user(filename, self._libraries)

    def text(self, filename: str) -> Text | None:
        """Return the text that was compiled under a name; None where it is not known, or no Python."""
        cell = self._cells.get(filename)
        if cell is not None:
            found = text_of_cell(tuple(cell.text.splitlines()))
        else:
            found = self.sources.files.file(filename).versions[0]
        known = bool(found.lines) and sum(map(len, found.lines)) <= _MOST_CHARACTERS
        return found if known and found.tree is not None else None

    def function(self, code: CodeType) -> Function | None:
        """Return the definition of a function of the user's; None where no text that is known is the one that ran."""
        filename = code.co_filename
        text = self.text(filename) if self.is_users(filename) else None
        if text is None or filename in self._cells:
            return function_of(text, code) if text is not None else None
        twin = self.sources.files.twin(code, 0)
        return function_of(twin.text, twin.code) if twin is not None else None

    def site(self, filename: str, node: ast.expr | ast.stmt, function: str, caller: Callsite | None) -> Callsite:
        """Return a place in a text, told by its syntax."""
        return self.sources.site(self.text(filename) or Text([]), filename, node, function, caller)

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


@dataclass(frozen=True, eq=False)
class UserFrame:
    """A frame of the traceback that runs the user's code."""

    place: Callsite
    """Where it stood, with its callers."""
    at: int
    """Its number among all frames of the traceback."""
    code: CodeType
    globals: Mapping[str, object]
    """The global names of its code."""
    names: Mapping[str, object]
    """Its local variables; empty for a module's or a cell's own frame, whose names are the namespace."""


@dataclass(frozen=True, eq=False)
class Failure:
    """An error of PyTorch's or Paddle's, and what is left of the program that raised it."""

    error: BaseException
    """The error itself; a cause where the user's code raised another one from it."""
    text: str
    """Its first argument."""
    kind: Kind
    """The row of the table that the text fits."""
    match: re.Match[str]
    """What the kind's regular expression found in the text."""
    frames: tuple[UserFrame, ...]
    """The user's frames of the traceback, the outermost first."""
    stack: tuple[FrameType, ...]
    """All frames of the traceback, the libraries' too, the outermost first."""
    namespace: Mapping[str, object]
    """The user's global names."""
    texts: Texts
    """The user's cells and files."""

    @property
    def place(self) -> Callsite | None:
        """The user's line that raised."""
        return self.frames[-1].place if self.frames else None

    @cached_property
    def trees(self) -> tuple[ast.AST, ...]:
        """The user's expression that raised and its statement, each if it can be parsed."""
        texts = (self.place.expression, self.place.statement) if self.place is not None else ()
        return tuple(tree for text in texts if (tree := parse(text)) is not None)

    @cached_property
    def raised(self) -> UserFrame | None:
        """The user's frame that called PyTorch: of a backward, not the hook or ``backward`` that the engine ran."""
        engine = [at for at, frame in enumerate(self.stack) if frame.f_code.co_name == "_engine_run_backward"]
        before = tuple(frame for frame in self.frames if not engine or frame.at < engine[0])
        return (before or self.frames)[-1] if self.frames else None

    @property
    def why(self) -> str:
        """Why PyTorch refuses it."""
        return _(self.kind.why) if self.kind.why else ""

    @property
    def said(self) -> str:
        """Type and first line of the exception, as Python prints them."""
        return f"{type(self.error).__name__}: {self.text.strip().partition(chr(10))[0]}"

    @cached_property
    def scopes(self) -> tuple[Mapping[str, object], ...]:
        """The names in sight where it was raised: those of the innermost function first, the namespace last."""
        return (*(frame.names for frame in reversed(self.frames) if frame.names), self.namespace)


@dataclass(frozen=True)
class Kind:
    """A kind of errors."""

    code: str
    """That of a watch's finding where there is one."""
    pattern: str
    """Regular expression that is found in the text of such an error."""
    explain: Callable[[Failure], Answer | None]
    why: str = ""
    """Why PyTorch refuses it, in one sentence; marked for the catalogues."""
    framework: Literal["torch", "paddle"] = "torch"
    """Whose error it is, and in whose words it is explained."""

    def answer(self, failure: Failure) -> Answer | None:
        """Return the explanation of a failure of this kind; None where it is of none that can be explained."""
        with use_language(None, self.framework):
            answer = self.explain(failure)
            return replace(answer, framework=self.framework) if answer is not None else None

    def search(self, text: str) -> re.Match[str] | None:
        """Return what the regular expression finds in a text."""
        return re.search(self.pattern, text, re.DOTALL)
