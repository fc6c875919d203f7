"""How a backward came into a graph that an earlier one had used up, in words: of any framework."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inplace_magic.language import N_, _
from inplace_magic.postmortem.refused import words
from inplace_magic.postmortem.refused.history import History, Step
from inplace_magic.record.answer import Answer
from inplace_magic.record.places import Callsite


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
    told = {"second": words.spot(failure.place), "again": words.line_of(failure.place)}
    if best is not None:
        made = history.site(best.made) if best.made is not None else None
        told |= {"name": words.tensor(best.name), "forward": words.spot(made), "made": words.line_of(made)}
        told |= {"first": words.spot(best.first), "before": words.line_of(best.first)}
    return words.answer(
        failure,
        _(_SAID[best.kind] if best is not None else _UNKNOWN).format(**told),
        words.doubt(sites[1:]) if len(sites) > 1 else "",
        failure.why,
        sites=sites,
        certain=len(sites) == 1 and len({way.kind for way in ways}) == 1,
        name=best.name if best is not None else path,
        fix=_(_CURES[best.kind] if best is not None else _CURE).format(**told),
    )
