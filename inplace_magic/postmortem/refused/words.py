"""An answer, and how places and tensors are called in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from inplace_magic.language import N_, _, sentences
from inplace_magic.postmortem.failure import Failure
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite

LEAF_WRITTEN = N_("{line} writes {tensor}, a leaf that requires grad, in place.")
LEAF_FIX = N_(
    "If it is an update of the values, put {line} under `with torch.no_grad():`. If it is part of the "
    "computation, write into a copy: `{name}.clone()`."
)
UPDATE = N_("Put {line} under `with torch.no_grad():`, as an update of the values.")
NOT_BEHIND = N_("{line} asks for the gradient with respect to {tensor}, and {result} was not computed from it.")
USE_IT = N_(
    "Compute the result from {name} itself, without `.detach()`, `.data` or a copy made before. Where it may "
    "be unused, pass `allow_unused=True` and expect None."
)
_MOST = 70
_MOST_LINES = 3


def answer(
    failure: Failure,
    *said: str,
    sites: Iterable[Callsite | None],
    certain: bool,
    name: str | None,
    fix: str | None,
) -> Answer:
    """Return an answer.

    Args:
        failure: what it is about.
        said: the sentences of its message; empty ones are left out.
        sites: the lines that can be the cause, likeliest first.
        certain: whether the facts leave one.
        name: of the tensor.
        fix: what to change.
    """
    return Answer(
        code=failure.kind.code,
        message=sentences(*said),
        error=failure.said,
        place=failure.place,
        candidates=tuple(site for site in sites if site is not None),
        certain=certain,
        variable=name,
        fix=fix,
    )


def code(text: str) -> str:
    """Source within a sentence: on one line, not too long, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    return f"`{line if len(line) <= _MOST else line[: _MOST - 1] + '…'}`"


def line_of(site: Callsite | None) -> str:
    """Return the line's code; its place where the code is not known."""
    if site is None:
        return _("an unknown line")
    text = site.statement or site.text
    return code(text) if text.strip() else site.place


def spot(site: Callsite | None) -> str:
    """Return the line's code and, in brackets, its place."""
    if site is None or not (site.statement or site.text).strip():
        return line_of(site)
    return _("{line} ({place})").format(line=line_of(site), place=site.place)


def doubt(others: Sequence[Callsite] = ()) -> str:
    """What is said where the facts do not leave one line alone."""
    lines = "; ".join(map(spot, others[:_MOST_LINES]))
    return (
        _("It can also have been {lines}.").format(lines=lines)
        if lines
        else _("This follows from the text alone; no live value confirms it.")
    )


def tensor(path: str | None) -> str:
    """Return a tensor's name; words for one that has none."""
    return f"`{path}`" if path else _("a tensor")


def called(root: ast.expr | None) -> str:
    """Return the source of what backward runs from."""
    return code(ast.unparse(root)) if root is not None else _("a tensor")
