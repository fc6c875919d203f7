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

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import Hazard
from inplace_magic.report import Report
from inplace_magic.trace import Callsite


@dataclass(slots=True)
class News:
    """What a story has shown so far."""

    count: int = 0
    _seen: set[Hashable] = field(default_factory=set)

    def of(self, report: Report) -> list[Hazard]:
        """The findings that have happened and were not shown yet, worst first; from now on they count as shown."""
        ran = _Ran(report)
        fresh = []
        for hazard in report.hazards:
            if hazard.severity == "info" or not _has_happened(hazard, ran):
                continue
            keys = _keys(hazard)
            if self._seen.isdisjoint(keys):
                fresh.append(hazard)
            self._seen.update(keys)
        self.count += len(fresh)
        return fresh


class _Ran:
    """The nodes that backward went through, worked out when first asked for: most reports never need it."""

    def __init__(self, report: Report) -> None:
        self._report = report

    @cached_property
    def story(self) -> Story:
        return Story(self._report.trace)


def _has_happened(hazard: Hazard, ran: _Ran) -> bool:
    if hazard.severity == "error":
        return hazard.raised
    if hazard.severity != "silent" or hazard.saved_call is None:
        return True
    # Wrong numbers were saved for backward: they did harm once a backward has used them.
    savers = {number for number, node in ran.story.nodes.items() if node.call == hazard.saved_call}
    since = hazard.saved_call if hazard.call is None else hazard.call
    used = any(at > since and not savers.isdisjoint(nodes) for at, nodes in ran.story.executed.items())
    return used or not savers


def _keys(hazard: Hazard) -> list[Hashable]:
    """Two names of a finding, either of which tells it again.

    By its places: the same line in a loop, or a helper called from one cell after another, is one finding. By its
    calls: ipykernel compiles a cell that is run again under the same file name, so the places of its first run move on
    to the new ``In[9]``, but a call keeps its number. What raised is another finding in every cell that led to it.
    """
    if hazard.mutation is None and hazard.saved is None and hazard.call is None:
        return [(hazard.code, hazard.raised, hazard.message)]
    by_place = (hazard.code, hazard.raised, _place(hazard.mutation, hazard), _place(hazard.saved, hazard))
    if hazard.call is None and hazard.saved_call is None:
        return [by_place]
    return [by_place, (hazard.code, hazard.raised, hazard.call, hazard.saved_call)]


def _place(site: Callsite | None, hazard: Hazard) -> tuple[str, ...]:
    chain = []
    while site is not None:
        chain.append(site.place)
        site = site.caller if hazard.raised else None
    return tuple(chain)
