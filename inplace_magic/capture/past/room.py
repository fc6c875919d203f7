"""Makes room for more calls: what is over is packed, and beyond a bound a part of it is forgotten: rows of what is
packed, without making objects of them."""

from __future__ import annotations

import marshal
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import COUNTS, EACH, HEAD, SITE, Log
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.past.packed import PLAIN, Packed
from inplace_magic.capture.records import saved_by
from inplace_magic.capture.torch.memory import MemoryMeter

_FIRST_OF_A_LINE = 3
_FIRST_OF_A_COUNTER = 8
_COUNTER = 4
"""Where a packed observation has the number of its version counter."""
_CALL, _BORN, _ENDED = 4, 3, 4
"""Where packed nodes, and packed storages, have them."""

_AT_ONCE = 1024
"""Calls that are packed together."""
_RECENT = 32
"""Calls that are not packed yet: a hook asks who made what is written now."""


class Room:
    """What a watch has room for.

    Args:
        log: its calls.
        identity: its storages.
        nodes: the autograd nodes.
        most: how many calls may be kept.
    """

    def __init__(self, log: Log, identity: IdentityMap, nodes: NodeMap, most: int) -> None:
        self._log = log
        self._identity = identity
        self._nodes = nodes
        self._most = self._forget_at = most
        self.packed = Packed()
        self.look_at = min(most, _AT_ONCE)
        """How many calls that are not packed make it worth while to do something about them."""

    def make_room(self, meter: MemoryMeter) -> int:
        """Packs what is over, and where there is too much of it, forgets.

        Args:
            meter: forgets with it.

        Returns:
            :attr:`look_at`, from now on.
        """
        log, packed = self._log, self.packed
        packed.take(log, self._identity, self._nodes, min(_RECENT, self._most // 2))
        if len(log.calls) + packed.count >= self._forget_at:
            known, self._forget_at = forget(log, self._nodes, packed, self._most)
            meter.forget(known)
        self.look_at = min(self._forget_at - packed.count, len(log.calls) + _AT_ONCE)
        return self.look_at


def forget(log: Log, nodes: NodeMap, packed: Packed, bound: int) -> tuple[set[int], int]:
    """Bounds memory: of the older half, keeps each line's first calls and what a backward to come may need.

    Args:
        log: the calls so far, and what belongs to them; the older half is packed.
        nodes: the autograd nodes met; those that died are packed.
        packed: what of all of these is packed.
        bound: how many calls shall be kept at most.

    Returns:
        The numbers of the calls that are kept, and how many calls there may be before it is worth while to try again.
    """
    counters: dict[int, int] = {}
    for _, _, _, counter, version, *_ in (saved for record in nodes.records for saved in saved_by(record)):
        if counter is not None:
            counters[counter.serial] = min(counters.get(counter.serial, version or 0), version or 0)
    older = (packed.count + len(log.calls)) // 2
    known, gone = _thin_calls(packed, older, {record.call for record in nodes.records}, counters)
    known.update([raw[0] for raw in log.calls])
    log.repeats = {number: more for number, more in log.repeats.items() if number in known}
    log.forgotten = log.ran - len(known) - sum(log.repeats.values())
    oldest = sorted(known)[-bound // 2] if known else 0
    packed.node_blocks = _thinned(packed.node_blocks, _CALL, gone + 1, lambda row: row[_CALL] in known)
    packed.storage_blocks = _thinned(
        packed.storage_blocks, _ENDED, oldest, lambda row: row[_ENDED] >= oldest or row[_BORN] in known
    )
    if log.ops:
        numbered = [(number, op) for number, op in zip(log.op_numbers, log.ops, strict=True) if op[1] in known]
        log.forgotten_ops += len(log.ops) - len(numbered)
        log.older_ops = array("q", [number for number, _op in numbered])
        log.ops = [op for _number, op in numbered]
    log.kept = [entry for entry in log.kept if entry.write in known]
    log.backwards = [backward for backward in log.backwards if backward.call in known]
    log.unseen = [raw for raw in log.unseen if raw[0].noticed >= oldest or raw[0].counter in counters]
    return known, max(bound, 2 * len(known))  # a graph that is alive as a whole is kept whole


def _thin_calls(packed: Packed, older: int, needed: set[int | None], counters: dict[int, int]) -> tuple[set[int], int]:
    """Forgets some of the oldest calls.

    Args:
        packed: what it forgets a part of.
        older: how many of the oldest calls may be forgotten.
        needed: numbers of the calls that made nodes which are still alive.
        counters: numbers of the version counters of what these nodes saved, with the oldest version saved; of each, the
            first writes after it are kept.

    Returns:
        The numbers of the calls that stay packed, and the greatest of those that went.
    """
    times: Counter[int | None] = Counter()
    writes: Counter[int] = Counter()
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
            times[row[SITE]] += 1
            keep = position >= older or times[row[SITE]] <= _FIRST_OF_A_LINE or row[0] in needed
            for at in range(end, len(row), EACH):
                counter, before = seen[row[at]][_COUNTER], row[at + 1]
                if counter in counters and (before or 0) >= counters[counter]:
                    writes[counter] += 1
                    keep = keep or writes[counter] <= _FIRST_OF_A_COUNTER
            if not keep:
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


def _thinned(
    blocks: list[tuple[bytes, int]], column: int, first: int, stays: Callable[[Any], bool]
) -> list[tuple[bytes, int]]:
    """Return the blocks with the rows that stay.

    Args:
        blocks: each with the least number in that column.
        column: of the number.
        first: a block whose numbers are not below it stays as it is, unread.
        stays: whether a row does.
    """
    found = []
    for block, least in blocks:
        if least >= first:
            found.append((block, least))
            continue
        rows = [row for row in marshal.loads(block) if stays(row)]
        if rows:
            found.append((marshal.dumps(rows, PLAIN), min([row[column] for row in rows])))
    return found
