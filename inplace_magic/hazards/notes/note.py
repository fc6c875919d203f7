"""What the rules "worth knowing" have in common: their findings are about bytes, few, and never an alarm."""

from __future__ import annotations

from collections.abc import Iterable

LEAST_BYTES = 2**20
"""Memory below this is not worth a note: the small tensors of a lesson stay quiet."""


def at_once(spans: Iterable[tuple[int, int | None, int]]) -> tuple[int, int]:
    """Return the most bytes that were there at one time, and how many pieces of memory they were.

    A loop makes and frees the same kilobytes a thousand times; their sum would be memory that never was.

    Args:
        spans: of each piece its first call, the call before which it was gone (None: it stayed) and its bytes.
    """
    moves: list[tuple[int, int, int]] = []
    for first, ended, nbytes in spans:
        moves.append((first, 1, nbytes))
        if ended is not None:
            moves.append((ended, -1, -nbytes))
    most, count, held, pieces = 0, 0, 0, 0
    for _at, more, nbytes in sorted(moves):  # at the same call, what goes goes first
        held, pieces = held + nbytes, pieces + more
        if held > most:
            most, count = held, pieces
    return most, count
