"""What a failure left, as plain data: the error, its text, the user's frames of its traceback, names and cells; and a
row of the table of errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType

from inplace_magic.language import _
from inplace_magic.postmortem.texts import Texts
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import parse


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

    def search(self, text: str) -> re.Match[str] | None:
        """Return what the regular expression finds in a text."""
        return re.search(self.pattern, text, re.DOTALL)
