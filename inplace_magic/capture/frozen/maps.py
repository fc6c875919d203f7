"""Raw records of operators, storages and autograd nodes -> frozen ones, after the watch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import torch

from inplace_magic.capture.graph.node_records import NodeRecord, saved_by
from inplace_magic.capture.log import RawOp, accesses_of, outputs_of
from inplace_magic.capture.past.packed import PastNode, PastStorage
from inplace_magic.capture.records import StorageRecord
from inplace_magic.capture.torch.layouts import readable
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
    return tuple(
        [
            _op_event(
                op[0],
                op[1],
                tuple(
                    [_access(~serial, "WRITE") if serial < 0 else _access(serial, "READ") for serial in accesses_of(op)]
                ),
                outputs_of(op),
                op[2],
            )
            for op in raw
        ]
    )


def frozen_storages(records: Iterable[StorageRecord | PastStorage], ops: Sequence[int]) -> tuple[Storage, ...]:
    """Return all blocks of memory met.

    Args:
        ops: numbers of the operators that are kept.
    """
    devices: dict[torch.device | None, str] = {}
    found = []
    for r in records:
        device = devices.get(r.device)
        if device is None:
            device = devices[r.device] = str(r.device)
        resizes = tuple([Resize(nbytes, call, position(ops, op)) for nbytes, call, op in r.resizes])
        born_op, ended_op = position(ops, r.born_op), position(ops, r.ended_op)
        if born_op is not None and (born_op == len(ops) or ops[born_op] != r.born_op):
            born_op = None  # that one was forgotten
        found.append(_storage(r.serial, r.nbytes, device, r.born, r.ended, born_op, ended_op, r.foreign, resizes))
    return tuple(found)


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
            shape, strides, offset, dtype, device, nbytes, _is_view, _cls = readable(layout)
            flips = node.changed.get(name, ()) if node.changed else ()
            found.append(
                _saved(
                    node.serial,
                    name,
                    storage.serial if storage is not None else None,
                    counter.serial if counter is not None else None,
                    version,
                    tensor,
                    shape,
                    strides,
                    offset,
                    dtype,
                    device,
                    nbytes,
                    False,  # packed by no hooks
                    digest is not None,
                    flips[0] if flips else None,
                    tuple(flips[1:]),
                    saved_role(name),
                )
            )
    return tuple(found)
