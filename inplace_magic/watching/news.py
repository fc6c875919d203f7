"""Which findings of a story are news: each is shown once, and only when it has happened.

The report of a story is made anew after every cell, so the same findings come again and again. And what is a finding at
the end of a watch need not be one between two cells. A result of an earlier forward lies about, ``out = model(x)``, and
the next cell loads weights: a backward from ``out`` would fail, so a report says that it will raise. Here nothing is
over yet, and most likely nobody runs that backward. So a finding about the future waits until it is the past; the
report at the end names it in any case.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

from inplace_magic.analysis.story import Story, story_of
from inplace_magic.hazards import Hazard
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report


@dataclass(slots=True)
class News:
    """What a story has shown so far."""

    count: int = 0
    _seen: set[Hashable] = field(default_factory=set)

    def of(self, report: Report) -> list[Hazard]:
        """Return the findings that have happened and were not shown yet, worst first; from now on they count as
        shown."""
        ran = _Ran(report)
        fresh = []
        for hazard in report.hazards:
            if not hazard.is_alarm or not _has_happened(hazard, ran):
                continue
            key = _key(hazard)
            if key not in self._seen:
                fresh.append(hazard)
            self._seen.add(key)
        self.count += len(fresh)
        return fresh

    def all_of(self, report: Report) -> bool:
        """True if every alarm of a report was shown before."""
        return all(_key(hazard) in self._seen for hazard in report.hazards if hazard.is_alarm)


class _Ran:
    """The nodes that backward went through, worked out when first asked for: most reports never need it."""

    def __init__(self, report: Report) -> None:
        self._report = report

    @cached_property
    def story(self) -> Story:
        return story_of(self._report.trace)


def is_of_the_future(hazard: Hazard) -> bool:
    """True if a finding says what a backward would raise that nobody ran."""
    return hazard.expected_version != hazard.found_version and not hazard.raised


def _has_happened(hazard: Hazard, ran: _Ran) -> bool:
    if hazard.severity == "error" or is_of_the_future(hazard):
        return hazard.raised
    if hazard.severity != "silent" or hazard.saved_call is None:
        return True
    # Wrong numbers were saved for backward: they did harm once a backward has used them.
    savers = {number for number, node in ran.story.nodes.items() if node.call == hazard.saved_call}
    since = hazard.saved_call if hazard.call is None else hazard.call
    used = any(at > since and not savers.isdisjoint(nodes) for at, nodes in ran.story.executed.items())
    return used or not savers


def _key(hazard: Hazard) -> Hashable:
    """What tells a finding again: the same lines in a loop, or a helper that one cell after another calls, are one.

    What raised is another finding in every cell that led to it, so there the callers count as well.
    """
    if hazard.mutation is None and hazard.saved is None:
        return hazard.code, hazard.raised, hazard.message
    return hazard.code, hazard.raised, *(_places(site, hazard.raised) for site in (hazard.mutation, hazard.saved))


def _places(site: Callsite | None, with_callers: bool, /) -> tuple[str, ...]:
    chain = []
    while site is not None:
        chain.append(site.place)
        site = site.caller if with_callers else None
    return tuple(chain)
