"""Raw records -> the frozen trace, after the watch. Everything that could wait is done here: names, text, readable
facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from inplace_magic.capture import describe
from inplace_magic.capture.nodes import NodeRecord
from inplace_magic.capture.records import UNREAD, ClosedCall, Observation, StorageRecord, TensorRecord
from inplace_magic.capture.sources import Sources
from inplace_magic.trace import (
    Access,
    AutogradNode,
    CallEvent,
    Callsite,
    ForeignWrite,
    Mutation,
    OpEvent,
    SavedTensor,
    Storage,
    TensorMetadata,
    TensorName,
    UnseenWrite,
)


class Freezer:
    """Makes each observation readable once, however many calls refer to it."""

    def __init__(self, sites: list[Callsite], modules: list[tuple[str, ...]]) -> None:
        self._sites = sites
        self._modules = modules
        self._made: dict[int, TensorMetadata] = {}

    def call(self, done: ClosedCall) -> CallEvent:
        """One call."""
        return CallEvent(
            index=done.number,
            name=done.facts.name,
            kind=done.kind,
            callsite=None if done.site is None else self._sites[done.site],
            inputs=tuple(map(self._observation, done.inputs)),
            outputs=tuple(map(self._observation, done.outputs)),
            mutations=tuple(
                Mutation(
                    tensor=after.record.serial,
                    version_before=before,
                    version_after=after.version,
                    storage=after.storage.serial if after.storage is not None else None,
                    counter=after.record.counter.serial,
                    values_before=describe.flat(old),
                    values_after=describe.flat(new),
                    region=region,
                )
                for after, before, old, new, region in done.mutations
            ),
            error=done.error,
            parent=done.parent,
            grad_enabled=done.grad_enabled,
            mutated=tuple(self._observation(after) for after, *_ in done.mutations),
            sequence=done.sequence,
            modules=() if done.site is None else self._modules[done.site],
        )

    def _observation(self, seen: Observation) -> TensorMetadata:
        made = self._made.get(id(seen))
        if made is None:
            record, storage, version, static, requires_grad, node = seen
            made = self._made[id(seen)] = TensorMetadata(
                tensor=record.serial,
                version=version,
                storage=storage.serial if storage is not None else None,
                counter=record.counter.serial,
                requires_grad=requires_grad,
                is_leaf=node is None,
                node=None if node == UNREAD else node,
                **describe.readable(static),
            )
        return made


class RawForeignWrite(NamedTuple):
    """Shared memory that changed between two calls."""

    storage: StorageRecord
    noticed: int
    after_site: int | None
    before_site: int | None


def frozen_foreign(
    raw: RawForeignWrite, sites: list[Callsite], sources: Sources, names: tuple[str, ...]
) -> ForeignWrite:
    """The write with the only statement that can have made it, where there is just one."""
    before = None if raw.after_site is None else sites[raw.after_site]
    after = None if raw.before_site is None else sites[raw.before_site]
    statement = None if before is None else sources.only_statement_between(before, after, names, sites)
    return ForeignWrite(raw.storage.serial, raw.noticed, names, statement)


class RawUnseenWrite(NamedTuple):
    """A version that moved between two looks at it."""

    record: TensorRecord
    before: int | None
    after: int | None
    noticed: int
    after_site: int | None
    before_site: int | None


def frozen_unseen(
    raw: RawUnseenWrite, sites: list[Callsite], sources: Sources, names: Iterable[TensorName]
) -> UnseenWrite:
    """The write with the only statement that can have made it, where there is just one."""
    first = None if raw.after_site is None else sites[raw.after_site]
    last = None if raw.before_site is None else sites[raw.before_site]
    called = tuple(entry.name for entry in names if entry.tensor == raw.record.serial)
    statement = None if first is None else sources.only_statement_between(first, last, called, sites)
    return UnseenWrite(raw.record.counter.serial, raw.before, raw.after, raw.noticed, statement)


RawOp = tuple[str, int | None, bool, tuple[int, ...], tuple[int, ...]]
"""(name, call, whether backward ran it, serial numbers of what it read or, as ``~serial``, wrote; those of its
outputs): plain numbers, so that the garbage collector has nothing to look at."""


def frozen_ops(raw: Iterable[RawOp]) -> tuple[OpEvent, ...]:
    """All aten operators."""
    return tuple(
        OpEvent(
            name,
            call,
            tuple(Access(~serial, "WRITE") if serial < 0 else Access(serial, "READ") for serial in accesses),
            outputs,
            in_backward,
        )
        for name, call, in_backward, accesses, outputs in raw
    )


def frozen_storages(records: Iterable[StorageRecord]) -> tuple[Storage, ...]:
    """All blocks of memory met."""
    return tuple(Storage(r.serial, r.nbytes, str(r.device), r.born, r.ended) for r in records)


def frozen_nodes(records: Iterable[NodeRecord], pending: set[int]) -> tuple[AutogradNode, ...]:
    """All autograd nodes met; `pending` are those that a backward could still use."""
    return tuple(
        AutogradNode(r.serial, r.name, r.sequence, r.next, r.call, r.variable, r.ended, r.serial in pending)
        for r in records
    )


def frozen_saved(records: Iterable[NodeRecord]) -> tuple[SavedTensor, ...]:
    """All that the nodes saved."""
    found = []
    for node in records:
        for saved in node.saved:
            if saved.static is None:
                found.append(SavedTensor(node.serial, saved.name, hooked=True))
                continue
            facts = describe.readable(saved.static)
            found.append(
                SavedTensor(
                    node=node.serial,
                    name=saved.name,
                    storage=saved.storage.serial if saved.storage is not None else None,
                    counter=saved.counter.serial if saved.counter is not None else None,
                    version=saved.version,
                    tensor=saved.tensor,
                    checked=saved.witness is not None,
                    changed=(node.changed or {}).get(saved.name),
                    **{name: facts[name] for name in ("shape", "strides", "offset", "dtype", "device", "nbytes")},
                )
            )
    return tuple(found)
