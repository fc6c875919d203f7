"""What the rules "worth knowing" have in common: their findings are about bytes, few, and never an alarm."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from operator import itemgetter

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
    moves.sort()  # at the same call, what goes goes first
    held, pieces = (accumulate(move[part] for move in moves) for part in (2, 1))
    return max(zip(held, pieces, strict=True), key=itemgetter(0), default=(0, 0))
