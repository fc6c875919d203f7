"""What may be forgotten of a watch that grows beyond its bound."""

from __future__ import annotations

from collections import Counter
from typing import Any

from inplace_magic.capture.records import ClosedCall

_FIRST_OF_A_LINE = 3
_FIRST_OF_A_COUNTER = 8


def kept_calls(calls: list[ClosedCall], needed: set[int | None], counters: dict[Any, int]) -> list[ClosedCall]:
    """The younger half; of the older one, what findings rest on.

    Args:
        calls: all calls kept so far.
        needed: indexes of the calls that made nodes which are still alive.
        counters: version counters of what these nodes saved, with the oldest version saved; of each, the first writes
            after it are kept.
    """
    ordered = sorted(calls, key=lambda done: done.number)
    half = len(ordered) // 2
    times: Counter[Any] = Counter()
    kept = []
    for position, done in enumerate(ordered):
        times[done.site] += 1
        keep = position >= half or times[done.site] <= _FIRST_OF_A_LINE or done.number in needed
        for after, before, *_ in done.mutations:
            counter = after.record.counter
            if counter in counters and (before or 0) >= counters[counter]:
                times[counter] += 1
                keep = keep or times[counter] <= _FIRST_OF_A_COUNTER
        if keep:
            kept.append(done)
    return kept
