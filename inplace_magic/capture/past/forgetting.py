"""What may be forgotten of a watch that grows beyond its bound."""

from __future__ import annotations

from collections import Counter

from inplace_magic.capture.graph.node_records import saved_by
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import SITE, Log, RawCall, mutations_of
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.past.packed import Packed
from inplace_magic.capture.past.thinned import Written, thin_calls, thin_nodes, thin_storages
from inplace_magic.capture.records import RECORD

_FIRST_OF_A_LINE = 3
_FIRST_OF_A_COUNTER = 8


def forget(log: Log, identity: IdentityMap, nodes: NodeMap, packed: Packed, bound: int) -> tuple[set[int], int]:
    """Bounds memory: of the older half, keeps each line's first calls and what a backward to come may need.

    Args:
        log: the calls so far, and what belongs to them.
        identity: the storages met.
        nodes: the autograd nodes met.
        packed: what of all of these is packed; what stays of it as it is, is not read.
        bound: how many calls shall be kept at most.

    Returns:
        The numbers of the calls that are kept, and how many calls there may be before it is worth while to try again.
    """
    alive = [record for record in nodes.records if record.ended is None]
    counters: dict[int, int] = {}
    for _, _, _, counter, version, *_ in (saved for record in alive for saved in saved_by(record)):
        if counter is not None:
            counters[counter.serial] = min(counters.get(counter.serial, version or 0), version or 0)
    evidence = Evidence({record.call for record in alive}, counters)
    half = (packed.count + len(log.calls)) // 2
    left = half - packed.count
    known, gone = thin_calls(packed, half, evidence.has)
    log.calls = [raw for place, raw in enumerate(log.calls) if place >= left or evidence.has(*_facts_of(raw))]
    known.update([raw[0] for raw in log.calls])
    log.repeats = {number: more for number, more in log.repeats.items() if number in known}
    log.forgotten = log.ran - len(known) - sum(log.repeats.values())
    oldest = sorted(known)[-bound // 2] if known else 0
    thin_nodes(packed, known, gone)
    nodes.records = [r for r in nodes.records if r.ended is None or r.call in known]
    kept_ops = _forget_ops(log, identity, known)
    thin_storages(packed, known, oldest, kept_ops)
    identity.storages = [r for r in identity.storages if r.ended is None or r.ended >= oldest or r.born in known]
    log.kept = [entry for entry in log.kept if entry.write in known]
    log.backwards = [backward for backward in log.backwards if backward.call in known]
    log.unseen = [raw for raw in log.unseen if raw.noticed >= oldest or raw.record.counter.serial in counters]
    return known, max(bound, 2 * len(known))  # a graph that is alive as a whole is kept whole


def _facts_of(raw: RawCall) -> tuple[int, int | None, Written]:
    return raw[0], raw[SITE], [(after[RECORD].counter.serial, before) for after, before, *_ in mutations_of(raw)]


def _forget_ops(log: Log, identity: IdentityMap, known: set[int]) -> list[int] | None:
    """Keeps the operators of the calls that are known still, and renumbers them for the storages.

    Returns:
        How many are kept of those before each; None where none are recorded.
    """
    if identity.ops is None:
        return None
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
    return kept_before


class Evidence:
    """What findings rest on, among the older calls.

    Args:
        needed: indexes of the calls that made nodes which are still alive.
        counters: numbers of the version counters of what these nodes saved, with the oldest version saved; of each,
            the first writes after it are kept.
    """

    def __init__(self, needed: set[int | None], counters: dict[int, int]) -> None:
        self._needed = needed
        self._counters = counters
        self._times: Counter[int | None] = Counter()
        self._writes: Counter[int] = Counter()

    def has(self, number: int, site: int | None, written: Written) -> bool:
        """True if a call is kept; asked of one after the other, in the order of their recording."""
        self._times[site] += 1
        keep = self._times[site] <= _FIRST_OF_A_LINE or number in self._needed
        for counter, before in written:
            if counter in self._counters and (before or 0) >= self._counters[counter]:
                self._writes[counter] += 1
                keep = keep or self._writes[counter] <= _FIRST_OF_A_COUNTER
        return keep
