"""Forgets a part of what is packed, row by row, without making objects of it."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from typing import Any

from inplace_magic.capture.log import COUNTS, EACH, HEAD, SITE
from inplace_magic.capture.past.packed import PLAIN, Packed

Written = Sequence[tuple[int, int | None]]
"""(number of a version counter, version before) of each write of a call."""
_COUNTER = 1
"""Where a packed observation has it."""
_CALL, _BORN, _ENDED, _BORN_OP, _ENDED_OP = 3, 3, 4, 5, 6
"""Where packed nodes, and packed storages, have them."""


def thin_calls(packed: Packed, older: int, keeps: Callable[[int, int | None, Written], bool]) -> tuple[set[int], int]:
    """Forgets some of the oldest calls.

    Args:
        packed: what it forgets a part of.
        older: how many of the oldest calls may be forgotten.
        keeps: whether a call stays: its number, place and writes.

    Returns:
        The numbers of the calls that stay packed, and the greatest of those that went.
    """
    known: set[int] = set()
    gone = -1
    blocks: list[tuple[bytes, Sequence[int]]] = []
    kept: list[Any] = []
    observations: list[Any] = []
    for block, numbers in packed.call_blocks:
        if older <= 0:
            blocks.append((block, numbers))
            known.update(numbers)
            continue
        rows, seen = marshal.loads(block)
        places: dict[int, int] = {}
        for position, row in enumerate(rows):
            end = HEAD + row[COUNTS] + row[COUNTS + 1]
            written = [(seen[row[at]][_COUNTER], row[at + 1]) for at in range(end, len(row), EACH)]
            if not keeps(row[0], row[SITE], written) and position < older:
                gone = max(gone, row[0])
                continue
            for at in (*range(HEAD, end), *range(end, len(row), EACH)):
                place = places.get(row[at])
                if place is None:
                    place = places[row[at]] = len(observations)
                    observations.append(seen[row[at]])
                row[at] = place
            kept.append(row)
        older -= len(rows)
    if kept:
        numbers = [row[0] for row in kept]
        known.update(numbers)
        blocks.insert(0, (marshal.dumps((kept, observations), PLAIN), numbers))
    packed.call_blocks, packed.count = blocks, len(known)
    return known, gone


def thin_nodes(packed: Packed, known: set[int], gone: int) -> None:
    """Forgets the nodes of calls that are forgotten.

    Args:
        packed: what it forgets a part of.
        known: the numbers of the calls that stay.
        gone: the greatest number of the others.
    """
    blocks = []
    for block, least in packed.node_blocks:
        if least > gone:
            blocks.append((block, least))
            continue
        rows = [row for row in marshal.loads(block) if row[_CALL] in known]
        if rows:
            blocks.append((marshal.dumps(rows, PLAIN), min([row[_CALL] for row in rows])))
    packed.node_blocks = blocks


def thin_storages(packed: Packed, known: set[int], oldest: int, kept_ops: Sequence[int] | None) -> None:
    """Forgets the storages of calls that are forgotten.

    Args:
        packed: what it forgets a part of.
        known: the numbers of the calls that stay.
        oldest: storages that died later stay.
        kept_ops: how many operators stay of those before each; None where none are recorded.
    """
    blocks = []
    for block, least in packed.storage_blocks:
        if least >= oldest and kept_ops is None:
            blocks.append((block, least))
            continue
        rows = [row for row in marshal.loads(block) if row[_ENDED] >= oldest or row[_BORN] in known]
        if kept_ops is not None:
            rows = [_renumbered(row, kept_ops) for row in rows]
        if rows:
            blocks.append((marshal.dumps(rows, PLAIN), min([row[_ENDED] for row in rows])))
    packed.storage_blocks = blocks


def _renumbered(row: Sequence[Any], kept: Sequence[int]) -> tuple[Any, ...]:
    changed = [*row]
    born, ended = row[_BORN_OP], row[_ENDED_OP]
    if born is not None:
        changed[_BORN_OP] = None if kept[born] == kept[born + 1] else kept[born]
    if ended is not None:
        changed[_ENDED_OP] = kept[ended]
    return tuple(changed)
