"""An answer, how places and tensors are called in it, and what is said of errors of any framework: how a backward came
into a graph that an earlier one had used up."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_magic.language import N_, _, sentences
from inplace_magic.postmortem.failure import Failure
from inplace_magic.postmortem.refused.history import History, Step
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite
from inplace_magic.record.places import code as code
from inplace_magic.record.places import line_of as line_of

LEAF_WRITTEN = N_("{line} writes {tensor}, a leaf that requires grad, in place.")
LEAF_FIX = N_(
    "If it is an update of the values, put {line} under `with torch.no_grad():`. If it is part of the "
    "computation, write into a copy: `{name}.clone()`."
)
UPDATE = N_("Put {line} under `with torch.no_grad():`, as an update of the values.")
USE_IT = N_(
    "Compute the result from {name} itself, without `.detach()`, `.data` or a copy made before. Where it may "
    "be unused, pass `allow_unused=True` and expect None."
)
_MOST_LINES = 3


def answer(
    failure: Failure,
    *said: str,
    sites: Iterable[Callsite | None],
    certain: bool,
    name: str | None,
    fix: str | None,
    **more: Any,
) -> Answer:
    """Return an answer.

    Args:
        failure: what it is about.
        said: the sentences of its message; empty ones are left out.
        sites: the lines that can be the cause, likeliest first.
        certain: whether the facts leave one.
        name: of the tensor.
        fix: what to change.
        more: further fields of the answer.
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
        **more,
    )


def not_behind(failure: Failure, path: str | None, roots: Sequence[ast.expr]) -> str:
    """Say that a result was not computed from the tensor whose gradient is asked for."""
    result = code(ast.unparse(roots[0])) if roots else _("the result")
    said = _("{line} asks for the gradient with respect to {tensor}, and {result} was not computed from it.")
    return said.format(line=spot(failure.place), tensor=tensor(path), result=result)


def spot(site: Callsite | None) -> str:
    """Return the line's code and, in brackets, its place."""
    if site is None or not (site.statement or site.text).strip():
        return line_of(site)
    return _("{line} ({place})").format(line=line_of(site), place=site.place)


def doubt(others: Sequence[Callsite] = ()) -> str:
    """What is said where the facts do not leave one line alone."""
    if not others:
        return _("This follows from the text alone; no live value confirms it.")
    return _("It can also have been {lines}.").format(lines="; ".join(map(spot, others[:_MOST_LINES])))


def tensor(path: str | None) -> str:
    """Return a tensor's name; words for one that has none."""
    return f"`{path}`" if path else _("a tensor")


def called(root: ast.expr | None) -> str:
    """Return the source of what backward runs from."""
    return code(ast.unparse(root)) if root is not None else _("a tensor")


@dataclass(frozen=True, eq=False)
class Way:
    """How the failing backward came into the used up graph."""

    kind: str
    """``again``, ``shared``, ``joined``, ``above``, ``outside``, ``kept`` or ``carried``."""
    name: str | None
    """Of the tensor that leads there."""
    made: Step | None
    """The statement that made it."""
    first: Callsite | None
    """The backward that was first."""


_SAID = {
    "again": N_("{second} goes through the graph of {name} again: {first} already went through it."),
    "shared": N_(
        "{second} runs back through {name}, which {forward} made, into a part of the graph that {first} already "
        "went through."
    ),
    "joined": N_("{second} enters a part of the graph that {first} already went through."),
    "above": N_(
        "{forward} made the graph of {name} once, before the loop, and {second} runs through it in each iteration."
    ),
    "outside": N_(
        "{forward} made the graph of {name} once, outside the function, and {second} runs through it in each call."
    ),
    "kept": N_(
        "{name} comes from an earlier iteration ({forward}), whose graph backward has already freed; {second} "
        "runs into it."
    ),
    "carried": N_(
        "{name} still carries the graph of an earlier iteration, which backward has already freed: {forward} "
        "carries it on, and {second} runs into it."
    ),
}
_CURES = {
    "again": N_(
        "Compute {name} again before {again}, or run backward once. To use one graph twice, pass "
        "`retain_graph=True` to {before}."
    ),
    "shared": N_(
        "If both need it, run backward once, on the sum of the two results, or pass `retain_graph=True` to {before}. "
        "If only one does, give the other the values alone, by `.detach()` of {name}."
    ),
    "joined": N_(
        "If both need it, run backward once, on the sum of the two results, or pass `retain_graph=True` to {before}. "
        "If only one does, give the other detached values."
    ),
    "above": N_("Compute {name} again in each pass: put {made}, and what it needs, into the loop."),
    "outside": N_("Compute {name} again in each call: put {made}, and what it needs, into the function."),
    "kept": N_("Empty what holds {name} after each backward, or keep the values alone there, by `.detach()`."),
    "carried": N_("Detach {name} at the top of the loop (`.detach()`); gradients then end where an iteration begins."),
}
_UNKNOWN = N_(
    "{second} enters a graph whose saved tensors another backward has freed. The text does not show which backward."
)
_CURE = N_(
    "Compute the result again before each backward, or pass on detached values of earlier results (`.detach()`)."
)


def answer_of(history: History, ways: Sequence[Way], path: str | None) -> Answer:
    """Return the answer to such an error.

    Args:
        history: of the failure.
        ways: how it can have come there, likeliest first.
        path: what the failing backward runs from.
    """
    failure = history.failure
    best = ways[0] if ways else None
    sites: list[Callsite] = []
    for way in ways:
        site = way.first if way.kind in ("again", "shared", "joined") else history.site(way.made) if way.made else None
        if site is not None and site not in sites:
            sites.append(site)
    told = {"second": spot(failure.place), "again": line_of(failure.place)}
    if best is not None:
        made = history.site(best.made) if best.made is not None else None
        told |= {"name": tensor(best.name), "forward": spot(made), "made": line_of(made)}
        told |= {"first": spot(best.first), "before": line_of(best.first)}
    return answer(
        failure,
        _(_SAID[best.kind] if best is not None else _UNKNOWN).format(**told),
        doubt(sites[1:]) if len(sites) > 1 else "",
        failure.why,
        sites=sites,
        certain=len(sites) == 1 and len({way.kind for way in ways}) == 1,
        name=best.name if best is not None else path,
        fix=_(_CURES[best.kind] if best is not None else _CURE).format(**told),
    )
