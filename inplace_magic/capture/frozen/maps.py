"""Raw records of operators, storages and autograd nodes -> frozen ones, after the watch."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from inplace_magic.capture.log import FIRST_ACCESS, RawOp
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import Access, OpEvent
from inplace_magic.record.filled import filled
from inplace_magic.record.memory import Resize, Storage
from inplace_magic.record.traits import Role, Trait

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


def frozen_storages(rows: Iterable[tuple[Any, ...]]) -> Iterator[Storage]:
    """Yield all blocks of memory met.

    Args:
        rows: as :data:`.past.packed.STORAGE` gives them.
    """
    devices: dict[Any, str] = {}
    for serial, nbytes, device, *others, resizes in rows:
        name = devices.get(device)
        if name is None:
            name = devices[device] = str(device)
        yield _storage(serial, nbytes, name, *others, tuple([Resize(*resize) for resize in resizes]))


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


def frozen_nodes(
    rows: Iterable[tuple[Any, ...]],
    pending: set[int],
    node_traits: Callable[[str], tuple[Trait, ...]],
    function_behind: Callable[[str], str | None],
) -> tuple[AutogradNode, ...]:
    """Return all autograd nodes met; `pending` are those that a backward could still use.

    Args:
        rows: as :func:`.past.packed.node_row` gives them.
        node_traits: of a name.
        function_behind: the class of the user's that a node of that name runs.
    """
    known: dict[str, tuple[tuple[Trait, ...], str | None]] = {}
    found = []
    for serial, name, *others, _changed, _saved in rows:
        facts = known.get(name)
        if facts is None:
            facts = known[name] = node_traits(name), function_behind(name)
        found.append(_node(serial, name, *others, serial in pending, *facts))
    return tuple(found)


def frozen_saved(rows: Iterable[tuple[Any, ...]], saved_role: Callable[[str], Role | None]) -> tuple[SavedTensor, ...]:
    """Return all that the nodes saved, by the same rows."""
    found = []
    for node, *_others, changed, saved in rows:
        for name, tensor, storage, counter, version, layout, has_digest in saved:
            if layout is None:
                found.append(SavedTensor(node, name, hooked=True, role=saved_role(name)))
                continue
            flips = changed.get(name, ()) if changed else ()
            found.append(
                _saved(
                    *(node, name, storage, counter, version, tensor, *layout.readable[:6]),
                    checked=has_digest,
                    changed=flips[0] if flips else None,
                    flips=tuple(flips[1:]),
                    role=saved_role(name),
                )
            )
    return tuple(found)
