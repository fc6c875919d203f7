"""Errors that are about one tensor: which one, where it came from, why PyTorch refuses, what helps.

PyTorch's texts name no variable. The failing line shows which tensors it can mean, and only some of them are what the
text says: a leaf, a view, a tensor on the memory that was read. Where the line hands the tensor to a library, the
library's frames hold the same object.

Each kind is a row: what the tensor is like, and four sentences. Which line is the cause is the failing line itself, or
the one that made the tensor what it is.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inplace_magic.language import _
from inplace_magic.postmortem.failure import Failure, Kind
from inplace_magic.postmortem.graph import holders_in
from inplace_magic.postmortem.reading import Scopes, paths_in, value_of
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.facts import is_tensor
from inplace_magic.postmortem.refused.history import Bound, History
from inplace_magic.postmortem.refused.lines import written_by
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text

Fits = Callable[[Any], bool]
_MOST_HELD = 200


@dataclass(frozen=True, eq=False)
class Subject:
    """A tensor of the user's, for as long as the answer is made."""

    path: str | None
    """How the failing line calls it; None where it has no name there."""
    tensor: Any
    frame: int
    """The user's frame in which the name holds."""
    is_only: bool
    """Whether no other tensor of the line fits as well."""
    is_below: bool = False
    """Whether a library's frame below the line holds it, which the line did not hand in by a word of its own."""


def about(code: str, pattern: str, fits: Fits, what: str, why: str, fix: str, **more: Any) -> Kind:
    """Return the row of a kind of errors about one tensor; see :class:`About`."""
    return Kind(code, pattern, About(fits, what, fix, **more), why)


@dataclass(frozen=True)
class About:
    """What is said of one tensor. Sentences are marked for the catalogues; they may name ``{line}``, ``{tensor}``,
    ``{name}``, ``{origin}``, the groups of the pattern, and what `facts` gives."""

    fits: Fits
    """Whether a tensor can be the one."""
    what: str
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

    def __call__(self, failure: Failure) -> Answer:
        """Return the answer."""
        history = History(failure)
        subject = subject_of(history, self.fits, written=self.written and not self.made_it)
        if subject is not None and self.group is not None:
            last = (subject.path or "").rpartition(".")[2]
            subject = subject if last == failure.match[self.group] else replace(subject, path=None)
        made = origin_of(history, subject, anywhere=self.made_it) if subject is not None else None
        made_at = history.site(made.step) if made is not None else None
        is_elsewhere = made_at is not None and failure.place is not None and made_at.place != failure.place.place
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
        sure = subject is not None and subject.is_only
        if by_origin and made is not None:  # a statement that chooses, or reads a name, only handed the tensor on
            computed = isinstance(made.value, (ast.Call, ast.BinOp, ast.UnaryOp, ast.Await))
            sure = sure and made.step.sure and computed
        cause: Callsite | None = made_at if by_origin else failure.place
        return words.answer(
            failure,
            _(self.what).format(**told),
            _("It came from {line}.").format(line=words.spot(made_at)) if is_elsewhere else "",
            failure.why.format(**told),
            "" if sure or not self.made_it else words.doubt(),
            sites=[cause],
            certain=cause is not None and (sure if by_origin else not self.made_it),
            name=path,
            fix=cure or _(self.fix).format(**told),
        )


def subject_of(history: History, fits: Fits, *, written: bool = False) -> Subject | None:
    """Return the tensor that an error is about.

    Args:
        history: of the failure.
        fits: whether a tensor can be the one.
        written: whether it is the one that the line writes; any tensor of the line otherwise.
    """
    frame = len(history.failure.frames) - 1
    if frame < 0:
        return None
    scopes = history.scopes(frame)
    trees = history.failure.trees
    if written:
        for node in (node for tree in trees for node in written_by(tree)):
            found = _read(node, scopes, fits)
            if found is not None:
                return Subject(found[0], found[1], frame, is_only=True)
    below = _held_below(history, fits)
    if below:
        path = name_of(below[0], trees, scopes)
        return Subject(path, below[0], frame, is_only=len(below) == 1, is_below=True)
    named = [found for tree in trees for found in _named(tree, scopes, fits)]
    if not named:
        return None
    return Subject(*named[0], frame, is_only=len({id(tensor) for _, tensor in named}) == 1)


def origin_of(history: History, subject: Subject, *, anywhere: bool = False) -> Bound | None:
    """Return the statement that gave the tensor its name.

    Args:
        history: of the failure.
        subject: the tensor.
        anywhere: whether any statement that gives an attribute of that name its value will do, where there is one.
    """
    if subject.path is None:
        return None
    found = history.origin(subject.path, subject.frame)
    if found is None and subject.path.endswith("]"):
        root = subject.path[: subject.path.index("[")]
        kept = list(history.storing(root))
        found = Bound(subject.path, None, "=", kept[-1]) if kept else history.binding(root, subject.frame)
    owner, _, name = subject.path.rpartition(".")
    if found is None and anywhere and owner and name.isidentifier():
        every = list(history.of_attribute(name))
        found = (
            replace(every[0], step=replace(every[0].step, sure=False)) if len(every) > 1 else next(iter(every), None)
        )
    return found


def name_of(tensor: Any, trees: Sequence[ast.AST], scopes: Scopes) -> str | None:
    """Return the path by which the line, else any name in sight, leads to a tensor."""
    for path, _tensor in (found for tree in trees for found in _named(tree, scopes, lambda each: each is tensor)):
        return path
    leading = [(depth, path) for depth, path, each in reached(scopes) if each is tensor]
    return min(leading, key=lambda pair: pair[0], default=(0, None))[1]


def reached(scopes: Scopes) -> list[tuple[int, str, Any]]:
    """(steps, path, tensor) of the tensors that names in sight lead to; of a name that means two things, the inner."""
    seen: set[str] = set()
    found: list[tuple[int, str, Any]] = []
    for names in scopes:
        own = {name: value for name, value in list(names.items()) if name not in seen}
        seen.update(own)
        found += _within(own)
    return found


def _within(names: Mapping[str, object]) -> list[tuple[int, str, Any]]:
    every = [entry for entries in holders_in([names]).values() for entry in entries]
    return [(path.count(".") + path.count("["), path, tensor) for path, tensor in every]


def _read(node: ast.expr, scopes: Scopes, fits: Fits) -> tuple[str | None, Any] | None:
    """(path, tensor) of what an expression writes; of a part that is no object of its own the whole."""
    step: ast.expr = node
    while True:
        value = value_of(step, scopes)
        if is_tensor(value) and fits(value):
            return path_text(step), value
        if isinstance(step, (ast.Subscript, ast.Attribute)):
            step = step.value
        elif isinstance(step, ast.Call) and isinstance(step.func, ast.Attribute):
            step = step.func.value
        else:
            return None


def _named(tree: ast.AST, scopes: Scopes, fits: Fits) -> list[tuple[str | None, Any]]:
    """(path, tensor) of all in a statement that fit: named there, or held by what is named there."""
    direct: list[tuple[str | None, Any]] = []
    inside: list[tuple[str | None, Any]] = []
    for node in paths_in(tree):
        path, value = path_text(node), value_of(node, scopes)
        if is_tensor(value):
            direct += [(path, value)] if fits(value) else []
        elif path is not None:
            inside += [(name, each) for _, name, each in _within({path: value}) if fits(each)]
    return [*direct, *inside]


def _held_below(history: History, fits: Fits) -> list[Any]:
    """Return the tensors that fit in the frames of libraries below the user's line, the innermost frame first."""
    found: list[Any] = []
    for frame in reversed(history.failure.stack[history.failure.frames[-1].at + 1 :]):
        for held in gc.get_referents(frame)[:_MOST_HELD]:  # `f_locals` would leave a copy in the frame
            if is_tensor(held) and fits(held) and not any(held is each for each in found):
                found.append(held)
        if found:
            return found
    return found
