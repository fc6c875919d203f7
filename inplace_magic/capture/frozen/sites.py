"""The number that the log has for a place in the user's code, read when a watch ends."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_magic.record.places import Callsite


def site_at(number: int | None, sites: Sequence[Callsite]) -> Callsite | None:
    """The place of that number; None where none was noted."""
    return None if number is None else sites[number]
