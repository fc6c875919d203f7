"""What a call of Paddle's wrote: told by versions that moved, and by what is known of operations that move none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inplace_magic.capture.elements.dropped import MOST, Reader, by_item, converted
from inplace_magic.capture.elements.regions import basic_index_region
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.functions import Call
from inplace_magic.capture.paddle.identity import IdentityMap, Observation, StorageRecord
from inplace_magic.record.events import Dropped, Number

Written = list[tuple[Any, int | None]]
"""Tensors, each with its version before."""
_NONE: Written = []


def writes(call: Call, produced: Sequence[Any], identity: IdentityMap, *, raised: bool) -> Written:
    """Return the inputs that the call wrote, each memory once: those whose version moved, and those that it handed back
    as an operation that writes, or that are known to be written, without moving it.

    Args:
        call: the call, which has returned, or raised.
    """
    facts = call.facts
    if facts.runs_python:
        return _NONE  # what is written inside is written by calls of its own
    found: Written = []
    done: set[int] = set()
    for at, tensor in enumerate(call.tensors):
        try:
            version = tensor._inplace_version()
        except Exception:  # as in `describe.version`
            version = None
        seen = call.before[at]
        if version == seen.version:
            continue
        storage = seen.storage
        if storage is not None:
            if storage.serial in done:
                continue
            done.add(storage.serial)
            storage.version = version
            tensor = _announced(call, storage, tensor, identity)
        found.append((tensor, seen.version))
    unmoved = call.unmoved
    if facts.predicts_write and not raised and len(found) < len(call.tensors):
        if len(produced) == 1 and produced[0] is call.tensors[0]:
            unmoved = produced
        else:
            handed_back = set(map(id, produced))
            unmoved = [tensor for tensor in call.tensors if id(tensor) in handed_back] or call.targets
    for tensor in unmoved:
        record = identity.known(tensor)
        storage = None if record is None else record.storage
        if storage is not None and storage.serial not in done:
            done.add(storage.serial)
            found.append((tensor, describe.version(tensor)))
    return found


def _announced(call: Call, storage: StorageRecord, tensor: Any, identity: IdentityMap) -> Any:
    """Of several tensors on one memory, the one that the call announced to write."""
    if call.targets and call.targets[0] is tensor:
        return tensor
    for target in call.targets:
        record = identity.known(target)
        if record is not None and record.storage is storage:
            return target
    return tensor


def mutation(call: Call, tensor: Any, before: int | None, after: Observation, limit: int) -> tuple[Any, ...]:
    """Return the entries of a write, as :data:`.capture.log.EACH` has them.

    Args:
        limit: bytes up to which its values are kept.
    """
    old = call.old if call.targets and tensor is call.targets[0] else None
    if old is not None:
        was, now = call.before[0].layout, after.layout
        if was is not now and was.dtype != now.dtype:
            old = None  # `cast_` gives the tensor numbers of another kind
    new = None if old is None else describe.content(after.layout, after.pointer, limit)
    region = None
    if call.facts.sets_item and len(call.arguments) > 1:
        was = call.before[0].layout
        region = basic_index_region(was.shape, was.strides, was.offset, call.arguments[1])
    return after, before, old, new, region


def _values(tensor: Any) -> tuple[Number, ...] | None:
    seen = describe.layout(tensor)
    return describe.values(describe.content(seen, describe.pointer(tensor), 8 * MOST), seen)


_READER = Reader(
    is_tensor=describe.is_plain,
    dtype=lambda tensor: str(tensor.dtype).removeprefix("paddle."),
    values=_values,
)


def _item(args: tuple[Any, ...]) -> Dropped | None:
    if len(args) != 3:
        return None
    target, index, given = args
    if type(index) is tuple and len(index) == 1:
        (index,) = index  # as `Tensor.__setitem__` hands it on
    return by_item(_READER, target, index, given)


def _filled(args: tuple[Any, ...]) -> Dropped | None:
    return converted(_READER, args[0], args[1]) if len(args) > 1 else None


READERS: dict[str, Callable[[tuple[Any, ...]], Dropped | None]] = {"__setitem__": _item, "fill_": _filled}
"""By the name of the operation."""
