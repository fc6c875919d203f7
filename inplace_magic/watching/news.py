"""Choose the findings of a story to show: each once, and only after it has happened.

Every cell makes the story's report again, with the same findings. And a finding at the end of a watch may be none
between two cells. Example: ``out = model(x)`` is left over from an earlier forward, and the next cell loads weights. A
backward from ``out`` would fail, so a final report says that it will raise. But the story goes on, and most likely
nobody runs that backward. So a finding about the future waits until it happens; the report at the end has it in any
case.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from inplace_magic.analysis.story import Story, story_of
from inplace_magic.hazards import Hazard
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report


@dataclass(slots=True)
class News:
    """The findings that a story has shown so far."""

    count: int = 0
    _seen: set[Hashable] = field(default_factory=set)

    def of(self, report: Report) -> list[Hazard]:
        """Return the new findings that have happened, worst first, and mark them as shown."""
        story = story_of(report.trace)
        fresh = []
        for hazard in report.hazards:
            if not hazard.is_alarm or not _has_happened(hazard, story):
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


def is_of_the_future(hazard: Hazard) -> bool:
    """True if a finding is about a backward that nobody has run."""
    return hazard.expected_version != hazard.found_version and not hazard.raised


def _has_happened(hazard: Hazard, story: Story) -> bool:
    if hazard.severity == "error" or is_of_the_future(hazard):
        return hazard.raised
    if hazard.severity != "silent" or hazard.saved_call is None:
        return True
    # Wrong numbers were saved for backward: they did harm once a backward has used them.
    savers = {number for number, node in story.nodes.items() if node.call == hazard.saved_call}
    since = hazard.saved_call if hazard.call is None else hazard.call
    used = any(at > since and not savers.isdisjoint(story.went_through(at)) for at in story.backwards_run)
    return used or not savers


def _key(hazard: Hazard) -> Hashable:
    """Return the key of a finding: the same lines in a loop, or in a helper of several cells, are one finding.

    An error is a separate finding in each cell, so its key includes the callers.
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
