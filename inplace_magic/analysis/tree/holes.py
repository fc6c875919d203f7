"""Where calls are missing in a record: those of a long loop that were discarded, or that no picture shows.

What is counted between two calls that are there is then no count of what ran, and has to say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from inplace_magic.record.events import CallEvent

Hole = tuple[int, int]
"""The indexes of the calls before and after it."""


def holes_of(calls: Sequence[CallEvent]) -> tuple[Hole, ...]:
    """Where further calls ran than these, in their order."""
    return tuple([(one.index, next_.index) for one, next_ in pairwise(calls) if next_.index > one.index + 1])


def has_hole(holes: Sequence[Hole], first: int, last: int, *, around: bool = False) -> bool:
    """Whether calls are missing between the two calls of these indexes.

    Args:
        holes: as :func:`holes_of` gives them.
        around: right before and after them counts too, as for the passes of a loop.
    """
    return any(first <= before < last or (around and (after == first or before == last)) for before, after in holes)
