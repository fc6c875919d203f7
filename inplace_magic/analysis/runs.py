"""The calls made while one place ran something: found once for each run, however many of its calls ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite

LONGEST = 1_000
"""Calls up to which a run is looked at as a whole; a longer one is no helper."""


@dataclass(frozen=True)
class Runs:
    """The runs of one trace, each remembered until another one of the same place is asked for."""

    calls: Mapping[int | None, CallEvent]
    _last: dict[tuple[object, ...], tuple[int, int]] = field(default_factory=dict)

    def around(self, index: int, caller: Callsite, inside: Callsite) -> tuple[int, int] | None:
        """Indexes of the first and the last call of the run in which a call was made; None where it has more than
        :data:`LONGEST`.

        Args:
            caller: the place that began the run, one of those that led to the call.
            inside: a place in the function that ran, where the place may call several, as ``layer(x)`` in a loop does.
        """
        known = self._last.get((caller, inside.whose))
        if known is None or not known[0] <= index <= known[1]:
            known = self._last[caller, inside.whose] = self._run_of(index, caller, inside)
        return known if known[1] - known[0] <= LONGEST else None

    def _run_of(self, index: int, caller: Callsite, inside: Callsite) -> tuple[int, int]:
        """Return the run, or so much of it as shows that it is too long: forwards first, since rules ask for one call
        after the other."""
        first = last = index
        while last - first <= LONGEST and _is_within(self.calls.get(last + 1), caller, inside):
            last += 1
        while last - first <= LONGEST and _is_within(self.calls.get(first - 1), caller, inside):
            first -= 1
        return first, last


def _is_within(call: CallEvent | None, caller: Callsite, inside: Callsite) -> bool:
    place = call.callsite if call is not None else None
    while place is not None and place.caller is not None:
        if place.caller == caller:
            return place.same_function(inside)
        place = place.caller
    return False
