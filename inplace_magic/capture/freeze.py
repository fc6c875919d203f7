"""Raw records -> the frozen trace, after the watch. Everything that could wait is done here: names, text, readable
facts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

import torch

from inplace_magic.capture.names import Namespace
from inplace_magic.capture.nodes import NodeMap, NodeRecord, saved_by
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.records import (
    FACTS,
    SITE,
    UNREAD,
    ClosedCall,
    Log,
    Observation,
    RawForeignWrite,
    RawIdleStep,
    RawOp,
    RawUnseenWrite,
    StorageRecord,
    accesses_of,
    closed_call,
    outputs_of,
)
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.flagged import inplace_modules
from inplace_magic.capture.torch.layouts import readable
from inplace_magic.capture.torch.module_names import module_names
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.capture.torch.traits import function_behind, node_traits, saved_role
from inplace_magic.capture.witness import SharedMemory
from inplace_magic.record.autograd import AutogradNode, IdleStep, SavedTensor
from inplace_magic.record.blindness import (
    EDITED,
    FORGOTTEN,
    NO_ROOM,
    NOT_JUDGED,
    NOT_SEEN_MORE,
    PROCESSES,
    THREADS,
    TOO_DEEP,
    TOO_LARGE,
)
from inplace_magic.record.events import (
    Access,
    CallEvent,
    Dropped,
    ForeignWrite,
    Mutation,
    OpEvent,
    TensorMetadata,
    UnseenWrite,
)
from inplace_magic.record.memory import Resize, Storage
from inplace_magic.record.names import LocalName
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources


def frozen_trace(
    recorder: Recorder,
    options: WatchOptions,
    sources: Sources,
    namespace: Namespace,
    blindness: Iterable[str],
    *,
    last: bool,
) -> Trace:
    """The trace of what was recorded so far.

    Args:
        recorder: the record of the watch.
        options: those of the watch.
        sources: source text of the watched code.
        namespace: the user's names.
        blindness: what this watch cannot see at all.
        last: nothing more will be recorded; the marks that it left on autograd nodes are taken off.
    """
    recorder.look_once_more()
    log, nodes, identity = recorder.log, recorder.nodes, recorder.identity
    pending = nodes.pending(forget=last)
    sites = recorder.sites.resolve(sources)
    freezer = Freezer(sites, recorder.sites.modules, recorder.sites.library_expressions(sources), recorder.log.dropped)
    names: dict[int, tuple[str, ...]] = {}
    for entry in namespace.names if log.unseen else ():
        names[entry.tensor] = (*names.get(entry.tensor, ()), entry.name)
    giving = {raw[SITE] for raw in log.calls if raw[FACTS].exports} if log.foreign else set()
    calls = tuple(freezer.call(closed_call(raw)) for raw in sorted(log.calls, key=itemgetter(0)))
    return Trace(
        calls=calls,
        nodes=frozen_nodes(nodes.records, pending),
        saved=frozen_saved(nodes.records),
        storages=frozen_storages(identity.storages),
        readings=tuple(recorder.meter.readings),
        backwards=tuple(log.backwards),
        idle_steps=tuple(_idle_step(raw, sites) for raw in log.idle_steps),
        ops=frozen_ops(log.ops),
        unseen=tuple(frozen_unseen(raw, sites, sources, names.get(raw.record.serial, ())) for raw in log.unseen),
        foreign=tuple(
            frozen_foreign(raw, sites, sources, namespace.arrays.get(raw.storage.serial, ()), giving)
            for raw in log.foreign
        ),
        aliases=sources.aliases(),
        bindings=tuple(recorder.passing_names.holders.frozen(sites, calls)),
        sources=sources.texts(),
        loops=sources.loops() if log.kept else (),
        hooked_modules=namespace.hooked_modules,
        hooked_calls=tuple(log.hooked),
        kept_by_hooks=tuple(log.kept),
        inplace_modules=inplace_modules(namespace.modules, sources),
        names=namespace.names,
        local_names=_local_names(recorder, sources),
        module_names=module_names(namespace.modules, namespace.names),
        blindness=(
            *_not_seen(log, sites),
            *blindness,
            *_not_checked(identity.shared),
            *_not_looked_at(nodes, sites),
            *_not_kept(log, options),
            *_beside(log),
            *_edited(sources),
        ),
        threads_started=log.beside.threads,
        processes_started=log.beside.processes,
        faults=tuple(log.faults),
        level=options.level,
        torch_version=torch.__version__,
    )


def _idle_step(raw: RawIdleStep, sites: list[Callsite]) -> IdleStep:
    site = None if raw.site is None else sites[raw.site]
    return IdleStep(raw.call, site, raw.optimizer, raw.parameters, raw.held)


def _local_names(recorder: Recorder, sources: Sources) -> tuple[LocalName, ...]:
    found = []
    for code, names in recorder.passing_names.seen.values():
        place = sources.locate(code, 0, None)
        found += [LocalName(serial, name, place.function, place.cell, place.file) for name, serial in names.items()]
    return tuple(found)


def _not_checked(shared: SharedMemory) -> Iterator[str]:
    if shared.too_large:
        total = sum(record.nbytes for record in shared.too_large.values())
        yield TOO_LARGE.format(count=len(shared.too_large), nbytes=f"{total:,}")


def _not_looked_at(nodes: NodeMap, sites: list[Callsite]) -> Iterator[str]:
    if nodes.unread and nodes.unread_from is not None:
        yield TOO_DEEP.format(place=sites[nodes.unread_from].place, count=f"{nodes.unread:,}")


_MOST_TOLD = 6
"""Lines of unwatched work that are told one by one."""


def _not_seen(log: Log, sites: list[Callsite]) -> Iterator[str]:
    told: dict[str, None] = {}
    for sentence, name, number in log.not_seen:
        site = None if number is None else sites[number]
        call = name if site is None else site.expression or site.text or name
        told[sentence.format(call=" ".join(call.split()), place=site.place if site is not None else "line 0")] = None
    yield from list(told)[:_MOST_TOLD]
    if len(told) > _MOST_TOLD:
        yield NOT_SEEN_MORE.format(count=f"{len(told) - _MOST_TOLD:,}")


def _not_kept(log: Log, options: WatchOptions) -> Iterator[str]:
    if log.no_room:
        yield NO_ROOM
    if log.forgotten:
        yield FORGOTTEN.format(count=f"{log.forgotten:,}", begun=f"{log.begun:,}", limit=f"{options.max_events:,}")
        yield NOT_JUDGED


def _beside(log: Log) -> Iterator[str]:
    if log.beside.threads:
        yield THREADS.format(count=log.beside.threads)
    if log.beside.processes:
        yield PROCESSES.format(count=log.beside.processes)


def _edited(sources: Sources) -> Iterator[str]:
    for filename in sources.edited:
        yield EDITED.format(file=os.path.basename(filename))


class Freezer:
    """Makes each observation readable once, however many calls refer to it."""

    def __init__(
        self,
        sites: list[Callsite],
        modules: list[tuple[str, ...]],
        within: Mapping[tuple[int, str], str],
        dropped: Mapping[int, Dropped],
    ) -> None:
        self._sites = sites
        self._modules = modules
        self._within = within
        self._dropped = dropped
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
                    tensor=record.serial,
                    version_before=before,
                    version_after=version,
                    storage=storage.serial if storage is not None else None,
                    counter=record.counter.serial,
                    values_before=describe.flat(old),
                    values_after=describe.flat(new),
                    region=region,
                    dropped=self._dropped.get(done.number),
                )
                for (record, storage, version, *_), before, old, new, region in done.mutations
            ),
            error=done.error,
            refusal=refusal_of(done.error),
            parent=done.parent,
            grad_enabled=done.grad_enabled,
            mutated=tuple(self._observation(after) for after, *_ in done.mutations),
            sequence=done.sequence,
            modules=() if done.site is None else self._modules[done.site],
            within=""
            if done.site is None or not done.mutations
            else self._within.get((done.site, done.facts.name), ""),
            traits=done.facts.traits,
        )

    def _observation(self, seen: Observation) -> TensorMetadata:
        made = self._made.get(id(seen))
        if made is None:
            record, storage, version, layout, pointer, requires_grad, node = seen
            made = self._made[id(seen)] = TensorMetadata(
                tensor=record.serial,
                version=version,
                storage=storage.serial if storage is not None else None,
                counter=record.counter.serial,
                requires_grad=requires_grad,
                is_leaf=node is None,
                node=None if node == UNREAD else node,
                data_ptr=pointer,
                python_id=record.key,
                **readable(layout),
            )
        return made


def frozen_foreign(
    raw: RawForeignWrite, sites: list[Callsite], sources: Sources, names: tuple[str, ...], giving: set[int | None]
) -> ForeignWrite:
    """The write with the only statement that can have made it, where there is just one.

    Args:
        raw: the write.
        sites: all places, by number.
        sources: the texts.
        names: by which the namespace reaches the array.
        giving: numbers of the places that gave a memory to other libraries.
    """
    before = None if raw.after_site is None else sites[raw.after_site]
    after = None if raw.before_site is None else sites[raw.before_site]
    statement = None
    if before is not None:
        held = tuple(name for name in before.targets or () if name) if raw.after_site in giving else ()
        statement = sources.only_statement_between(before, after, (*names, *held), sites, alone=not raw.beside)
        if statement is None and held and not any(before.same_run(place) for place in (after.chain if after else ())):
            statement = sources.only_write_below(before, held, sites)
    return ForeignWrite(raw.storage.serial, raw.noticed, names, statement, raw.beside)


def frozen_unseen(raw: RawUnseenWrite, sites: list[Callsite], sources: Sources, names: tuple[str, ...]) -> UnseenWrite:
    """The write with the only statement that can have made it, where there is just one."""
    first = None if raw.after_site is None else sites[raw.after_site]
    last = None if raw.before_site is None else sites[raw.before_site]
    statement = None
    if first is not None:
        statement = sources.only_statement_between(first, last, names, sites, alone=not raw.beside)
    return UnseenWrite(raw.record.counter.serial, raw.before, raw.after, raw.noticed, statement, raw.beside)


def frozen_ops(raw: Iterable[RawOp]) -> tuple[OpEvent, ...]:
    """All aten operators."""
    return tuple(
        OpEvent(
            name,
            call,
            tuple(Access(~serial, "WRITE") if serial < 0 else Access(serial, "READ") for serial in accesses_of(op)),
            outputs_of(op),
            in_backward,
        )
        for op in raw
        for name, call, in_backward in (op[:3],)
    )


def frozen_storages(records: Iterable[StorageRecord]) -> tuple[Storage, ...]:
    """All blocks of memory met."""
    return tuple(
        Storage(
            storage=r.serial,
            nbytes=r.nbytes,
            device=str(r.device),
            born=r.born,
            ended=r.ended,
            born_op=r.born_op,
            ended_op=r.ended_op,
            foreign=r.foreign,
            resizes=tuple(Resize(*resize) for resize in r.resizes),
        )
        for r in records
    )


def frozen_nodes(records: Iterable[NodeRecord], pending: set[int]) -> tuple[AutogradNode, ...]:
    """All autograd nodes met; `pending` are those that a backward could still use."""
    return tuple(
        AutogradNode(
            *(r.serial, r.name, r.sequence, r.next, r.call, r.variable, r.ended, r.serial in pending),
            traits=node_traits(r.name),
            function=function_behind(r.name),
        )
        for r in records
    )


def frozen_saved(records: Iterable[NodeRecord]) -> tuple[SavedTensor, ...]:
    """All that the nodes saved."""
    found = []
    for node in records:
        for name, tensor, storage, counter, version, layout, digest in saved_by(node):
            if layout is None:
                found.append(SavedTensor(node.serial, name, hooked=True, role=saved_role(name)))
                continue
            facts = readable(layout)
            flips = (node.changed or {}).get(name, ())
            found.append(
                SavedTensor(
                    node=node.serial,
                    name=name,
                    storage=storage.serial if storage is not None else None,
                    counter=counter.serial if counter is not None else None,
                    version=version,
                    tensor=tensor,
                    checked=digest is not None,
                    changed=flips[0] if flips else None,
                    flips=tuple(flips[1:]),
                    role=saved_role(name),
                    **{name: facts[name] for name in ("shape", "strides", "offset", "dtype", "device", "nbytes")},
                )
            )
    return tuple(found)
