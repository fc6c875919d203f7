"""Raw records of a watch on Paddle -> the frozen trace, after the watch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import paddle

from inplace_magic.capture.frozen.writes import frozen_unseen, local_names, not_followed
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.calls import Call
from inplace_magic.capture.paddle.identity import IdentityMap, Observation, StorageRecord
from inplace_magic.capture.paddle.nodes import NodeRecord
from inplace_magic.capture.paddle.recorder import Recorder
from inplace_magic.capture.paddle.refusals import refusal_of
from inplace_magic.capture.paddle.traits import function_behind, node_traits, role_of
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.blindness import LATEST_KEPT, NAMES_LIMITED, UNKNOWN_SAVES
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import TensorName
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources


def frozen_trace(
    recorder: Recorder, options: WatchOptions, sources: Sources, names: tuple[TensorName, ...], blindness: Iterable[str]
) -> Trace:
    """Return the trace of what was recorded so far."""
    recorder.look_once_more()
    sites = recorder.sites.resolve(sources)
    freezer = _Freezer(sites, recorder.sites.modules)
    calls = tuple(freezer.call(call) for call in sorted(recorder.calls, key=lambda call: call.index))
    pending = _pending(recorder)
    return Trace(
        calls=calls,
        nodes=tuple(_node(record, pending) for record in recorder.nodes.records),
        saved=tuple(_saved(recorder.nodes.records)),
        storages=tuple(
            Storage(r.serial, r.nbytes, r.device, r.born, r.ended)
            for r in _with_what_nodes_keep(recorder.identity, recorder.nodes.records)
        ),
        readings=recorder.memory.frozen(),
        backwards=tuple(recorder.backwards.done),
        unseen=tuple(frozen_unseen(recorder.looks.unseen, sites, sources, names)),
        aliases=sources.aliases(),
        bindings=tuple(recorder.passing_names.holders.frozen(sites, calls)),
        methods=tuple(recorder.holdings.methods(calls)),
        holdings=tuple(recorder.holdings.found),
        names=names,
        local_names=tuple(local_names(recorder.passing_names, sources)),
        sources=sources.texts(),
        discarded=recorder.forgotten,
        blindness=(*blindness, *_not_known(recorder, options), *not_followed(recorder.beside, sources)),
        threads_started=recorder.beside.threads,
        faults=tuple(recorder.faults),
        level="calls",
        framework="paddle",
        framework_version=paddle.__version__,
    )


class _Freezer:
    """Makes each observation readable once, however many calls refer to it."""

    def __init__(self, sites: list[Callsite], modules: list[tuple[str, ...]]) -> None:
        self._sites = sites
        self._modules = modules
        self._made: dict[int, TensorMetadata] = {}

    def call(self, done: Call) -> CallEvent:
        """Return one call."""
        return CallEvent(
            index=done.index,
            name=done.facts.name,
            kind=done.kind,
            callsite=None if done.site is None else self._sites[done.site],
            inputs=tuple(map(self._observation, done.before)),
            outputs=tuple(map(self._observation, done.outputs)),
            mutations=tuple(
                Mutation(
                    tensor=write.after.record.serial,
                    version_before=write.before,
                    version_after=write.after.version,
                    storage=_number(write.after.storage),
                    counter=_number(write.after.storage),
                    values_before=describe.values(write.old, write.after.layout),
                    values_after=describe.values(write.new, write.after.layout),
                    region=write.region,
                    dropped=write.dropped,
                )
                for write in done.mutations
            ),
            error=done.error,
            refusal=refusal_of(done.error),
            parent=done.parent,
            grad_enabled=done.grad_enabled,
            mutated=tuple(self._observation(write.after) for write in done.mutations),
            sequence=done.sequence,
            modules=() if done.site is None else self._modules[done.site],
            traits=done.facts.traits,
        )

    def _observation(self, seen: Observation) -> TensorMetadata:
        made = self._made.get(id(seen))
        if made is None:
            facts = describe.readable(seen.layout)
            made = self._made[id(seen)] = TensorMetadata(
                tensor=seen.record.serial,
                version=seen.version,
                storage=_number(seen.storage),
                counter=_number(seen.storage),
                requires_grad=seen.requires_grad,
                is_leaf=seen.is_leaf,
                node=seen.node,
                data_ptr=seen.pointer or None,
                python_id=seen.record.key,
                cls=seen.layout.cls,
                **facts,
            )
        return made


def _number(storage: StorageRecord | None) -> int | None:
    return None if storage is None else storage.serial


def _node(record: NodeRecord, pending: set[int]) -> AutogradNode:
    return AutogradNode(
        node=record.serial,
        name=record.name,
        sequence=record.sequence,
        next=record.next,
        call=record.call,
        variable=record.variable,
        pending=record.serial in pending,
        traits=node_traits(record.name),
        function=function_behind(record.name),
    )


def _saved(records: Iterable[NodeRecord]) -> Iterator[SavedTensor]:
    for node in records:
        for saved in node.saved:
            facts = describe.readable(saved.seen.layout)
            yield SavedTensor(
                node=node.serial,
                name=saved.slot,
                storage=_number(saved.storage),
                counter=_number(saved.storage),
                version=saved.version,
                tensor=None if saved.is_clone else saved.seen.record.serial,
                checked=saved.before is not None,
                changed=saved.changed[0] if saved.changed else None,
                flips=saved.changed[1:],
                role=role_of(saved.slot),
                guarded=saved.guarded,
                **facts,
            )


def _pending(recorder: Recorder) -> set[int]:
    """Return the nodes, reached from a live tensor, that still hold what they kept; not those behind which a backward
    has been already: another one will raise."""
    nodes = recorder.nodes
    starts = {
        record.latest.node
        for _, record in recorder.identity.live()
        if record.latest is not None and record.latest.node is not None
    }
    alive = nodes.reached(number for number in starts if number is not None)
    users = grouped((behind, number) for number in alive for behind in nodes.records[number - 1].next)
    todo = [
        number
        for number in alive
        if number in recorder.backwards.released and nodes.records[number - 1].sequence is not None
    ]
    spent: set[int] = set()
    while todo:
        number = todo.pop()
        if number not in spent:
            spent.add(number)
            todo += users.get(number, ())
    return {number for number in alive - spent if nodes.records[number - 1].saved}


def _with_what_nodes_keep(identity: IdentityMap, nodes: Iterable[NodeRecord]) -> Iterator[StorageRecord]:
    """Yield all memory that was met. When a node lets go of what it keeps Paddle does not tell, so the end of that
    memory is unknown, and it counts as alive."""
    kept = {id(saved.storage) for node in nodes for saved in node.saved}
    for record in identity.storages:
        if id(record) in kept:
            record.ended = None
        yield record


def _not_known(recorder: Recorder, options: WatchOptions) -> Iterator[str]:
    if recorder.unknown_saves:
        yield UNKNOWN_SAVES.format(call=", ".join(f"`{name}`" for name in sorted(recorder.unknown_saves)))
    if recorder.forgotten:
        yield LATEST_KEPT.format(
            count=f"{recorder.forgotten:,}", begun=f"{recorder.begun:,}", limit=f"{options.max_events:,}"
        )
    if recorder.holdings.is_full or recorder.passing_names.is_full:
        yield NAMES_LIMITED
