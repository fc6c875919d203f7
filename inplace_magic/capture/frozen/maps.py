"""Raw records of operators, storages and autograd nodes -> frozen ones, after the watch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch

from inplace_magic.capture.graph.node_records import NodeRecord, saved_by
from inplace_magic.capture.log import FIRST_ACCESS, RawOp
from inplace_magic.capture.past.packed import PastNode, PastStorage
from inplace_magic.capture.records import StorageRecord
from inplace_magic.capture.torch.traits import function_behind, node_traits, saved_role
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import Access, OpEvent
from inplace_magic.record.filled import filled
from inplace_magic.record.memory import Resize, Storage
from inplace_magic.record.traits import Trait

_access, _op_event, _storage = filled(Access), filled(OpEvent), filled(Storage)
_node, _saved = filled(AutogradNode), filled(SavedTensor)


def frozen_ops(raw: Iterable[RawOp]) -> tuple[OpEvent, ...]:
    """Return all aten operators."""
    found = []
    for op in raw:
        name, call, in_backward, end = op[:FIRST_ACCESS]
        accesses = [
            _access(~number, "WRITE") if number < 0 else _access(number, "READ") for number in op[FIRST_ACCESS:end]
        ]
        found.append(_op_event(name, call, tuple(accesses), op[end:], in_backward))
    return tuple(found)


def frozen_storages(records: Iterable[StorageRecord | PastStorage]) -> Iterator[Storage]:
    """Yield all blocks of memory met."""
    devices: dict[torch.device | None, str] = {}
    for r in records:
        device = devices.get(r.device)
        if device is None:
            device = devices[r.device] = str(r.device)
        resizes = tuple(Resize(*resize) for resize in r.resizes) if r.resizes else ()
        yield _storage(r.serial, r.nbytes, device, r.born, r.ended, r.born_op, r.ended_op, r.foreign, resizes)


def among_kept(storages: Iterable[Storage], ops: Sequence[int]) -> Iterator[Storage]:
    """Yield the blocks with operators told by their places among those that are kept, and not by their numbers.

    Args:
        ops: numbers of the operators that are kept.
    """
    known = set(ops)
    for each in storages:
        yield replace(
            each,
            born_op=position(ops, each.born_op) if each.born_op in known else None,
            ended_op=position(ops, each.ended_op),
            resizes=tuple([replace(resize, op=position(ops, resize.op)) for resize in each.resizes]),
        )


def position(ops: Sequence[int], number: int | None) -> int | None:
    """Return where an operator stands among the kept ones, or the next one after it."""
    return None if number is None else bisect_left(ops, number)


def frozen_nodes(records: Iterable[NodeRecord | PastNode], pending: set[int]) -> tuple[AutogradNode, ...]:
    """Return all autograd nodes met; `pending` are those that a backward could still use."""
    known: dict[str, tuple[tuple[Trait, ...], str | None]] = {}
    found = []
    for r in records:
        facts = known.get(r.name)
        if facts is None:
            facts = known[r.name] = node_traits(r.name), function_behind(r.name)
        found.append(
            _node(r.serial, r.name, r.sequence, r.next, r.call, r.variable, r.ended, r.serial in pending, *facts)
        )
    return tuple(found)


def frozen_saved(records: Iterable[NodeRecord | PastNode]) -> tuple[SavedTensor, ...]:
    """Return all that the nodes saved."""
    found = []
    for node in records:
        if not node.saved:
            continue
        for name, tensor, storage, counter, version, layout, digest in saved_by(node):
            if layout is None:
                found.append(SavedTensor(node.serial, name, hooked=True, role=saved_role(name)))
                continue
            flips = node.changed.get(name, ()) if node.changed else ()
            on = storage.serial if storage is not None else None
            counts = counter.serial if counter is not None else None
            found.append(
                _saved(
                    *(node.serial, name, on, counts, version, tensor, *layout.readable[:6]),
                    checked=digest is not None,
                    changed=flips[0] if flips else None,
                    flips=tuple(flips[1:]),
                    role=saved_role(name),
                )
            )
    return tuple(found)
