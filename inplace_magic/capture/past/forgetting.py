"""What may be forgotten of a watch that grows beyond its bound."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter

from inplace_magic.capture.graph.node_records import saved_by
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import Log, RawCall, closed_call
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.records import RECORD

_FIRST_OF_A_LINE = 3
_FIRST_OF_A_COUNTER = 8


def forget(log: Log, identity: IdentityMap, nodes: NodeMap, bound: int) -> int:
    """Bounds memory: of the older half, keeps each line's first calls and what a backward to come may need.

    Args:
        log: the calls so far, and what belongs to them.
        identity: the storages met.
        nodes: the autograd nodes met.
        bound: how many calls shall be kept at most.

    Returns:
        How many calls there may be before it is worth while to try again.
    """
    alive = [record for record in nodes.records if record.ended is None]
    counters: dict[int, int] = {}
    for _, _, _, counter, version, *_ in (saved for record in alive for saved in saved_by(record)):
        if counter is not None:
            counters[counter.serial] = min(counters.get(counter.serial, version or 0), version or 0)
    kept = log.calls = kept_calls(log.calls, {record.call for record in alive}, counters)
    known = {raw[0] for raw in kept}
    log.repeats = {number: more for number, more in log.repeats.items() if number in known}
    log.forgotten = log.ran - len(kept) - sum(log.repeats.values())
    oldest = kept[-bound // 2][0] if kept else 0
    nodes.records = [r for r in nodes.records if r.ended is None or r.call in known]
    identity.storages = [r for r in identity.storages if r.ended is None or r.ended >= oldest or r.born in known]
    _forget_ops(log, identity, known)
    log.kept = [entry for entry in log.kept if entry.write in known]
    log.backwards = [backward for backward in log.backwards if backward.call in known]
    log.unseen = [raw for raw in log.unseen if raw.noticed >= oldest or raw.record.counter.serial in counters]
    return max(bound, 2 * len(kept))  # a graph that is alive as a whole is kept whole


def _forget_ops(log: Log, identity: IdentityMap, known: set[int]) -> None:
    """Keeps the operators of the calls that are known still, and renumbers them for the storages."""
    if identity.ops is None:
        return
    kept_before = [0]
    for op in log.ops:
        kept_before.append(kept_before[-1] + (op[1] in known))
    for storage in identity.storages:
        if storage.born_op is not None:
            gone = kept_before[storage.born_op] == kept_before[storage.born_op + 1]
            storage.born_op = None if gone else kept_before[storage.born_op]
        if storage.ended_op is not None:
            storage.ended_op = kept_before[storage.ended_op]
        if storage.resizes:
            storage.resizes = tuple(
                (nbytes, call, None if op is None else kept_before[op]) for nbytes, call, op in storage.resizes
            )
    log.ops = [op for op in log.ops if op[1] in known]
    identity.ops = len(log.ops)


def kept_calls(calls: list[RawCall], needed: set[int | None], counters: dict[int, int]) -> list[RawCall]:
    """The younger half; of the older one, what findings rest on.

    Args:
        calls: all calls kept so far.
        needed: indexes of the calls that made nodes which are still alive.
        counters: numbers of the version counters of what these nodes saved, with the oldest version saved; of each,
            the first writes after it are kept.
    """
    ordered = sorted(calls, key=itemgetter(0))
    half = len(ordered) // 2
    times: Counter[int | None] = Counter()
    writes: Counter[int] = Counter()
    kept = []
    for position, raw in enumerate(ordered):
        done = closed_call(raw)
        times[done.site] += 1
        keep = position >= half or times[done.site] <= _FIRST_OF_A_LINE or done.number in needed
        for after, before, *_ in done.mutations:
            counter = after[RECORD].counter.serial
            if counter in counters and (before or 0) >= counters[counter]:
                writes[counter] += 1
                keep = keep or writes[counter] <= _FIRST_OF_A_COUNTER
        if keep:
            kept.append(raw)
    return kept
