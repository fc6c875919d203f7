"""Errors that are about one tensor of the failing line: which one, where it came from, why PyTorch refuses, what helps.

Each kind is a row: what the tensor is like, and four sentences. Which line is the cause is the failing line itself, or
the one that made the tensor what it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from inplace_magic.language import _
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.history import Bound, History
from inplace_magic.postmortem.refused.subjects import Fits, Subject, origin_of, subject_of
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite


@dataclass(frozen=True)
class About:
    """A kind of errors about one tensor. Sentences are marked for the catalogues; they may name ``{line}``,
    ``{tensor}``, ``{name}``, ``{origin}``, the groups of the pattern, and what `facts` gives."""

    code: str
    pattern: str
    """Regular expression that is found in the text of such an error."""
    fits: Fits
    """Whether a tensor can be the one."""
    what: str
    why: str
    fix: str
    group: str | None = None
    """The group of the error's text that has the last part of the tensor's name, where it tells."""
    made_it: bool = False
    """Whether the cause is the line that gave the tensor, and not the line that raised."""
    written: bool = True
    """Whether it is the tensor that the line writes, where the line is the cause."""
    facts: Callable[[Failure, Any], dict[str, str]] = lambda failure, tensor: {}
    cure: Callable[[Failure, Subject, Bound | None], str | None] = lambda failure, subject, made: None
    """Another sentence in the place of `fix`, where the program tells which one helps."""

    @property
    def kind(self) -> Kind:
        """The row of the table of errors."""
        return Kind(self.code, re.compile(self.pattern, re.DOTALL), self, self.why)

    def __call__(self, failure: Failure) -> Answer:
        """Return the answer."""
        history = History(failure)
        subject = subject_of(history, self.fits, written=self.written and not self.made_it)
        if subject is not None and self.group is not None:
            last = (subject.path or "").rpartition(".")[2]
            subject = subject if last == failure.match[self.group] else replace(subject, path=None)
        made = origin_of(history, subject, anywhere=self.made_it) if subject is not None else None
        made_at = history.site(made.step) if made is not None else None
        here = failure.place
        is_elsewhere = (
            made_at is not None
            and here is not None
            and (made_at.line, made_at.cell, made_at.file) != (here.line, here.cell, here.file)
        )
        path = subject.path if subject is not None else None
        told = {
            **failure.match.groupdict(""),
            "line": words.spot(failure.place),
            "tensor": words.tensor(path),
            "name": path or _("it"),
            "origin": words.line_of(made_at),
            **self.facts(failure, subject.tensor if subject is not None else None),
        }
        cure = self.cure(failure, subject, made) if subject is not None else None
        by_origin = self.made_it and made_at is not None
        sure = subject is not None and subject.is_only and (not by_origin or (made is not None and _made_there(made)))
        cause: Callsite | None = made_at if by_origin else failure.place
        return words.answer(
            failure,
            self.code,
            _(self.what).format(**told),
            _("It came from {line}.").format(line=words.spot(made_at)) if is_elsewhere else "",
            _(self.why).format(**told),
            "" if sure or not self.made_it else words.doubt(),
            sites=[cause],
            certain=cause is not None and (sure if by_origin else not self.made_it),
            name=path,
            fix=cure or _(self.fix).format(**told),
        )


def _made_there(made: Bound) -> bool:
    """True if a statement surely ran and computed the tensor: one that chooses or reads a name only handed it on."""
    return made.step.sure and isinstance(made.value, (ast.Call, ast.BinOp, ast.UnaryOp, ast.Await))
