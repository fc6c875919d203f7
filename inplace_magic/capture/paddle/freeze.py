"""Raw records of a watch on Paddle -> the frozen trace, after the watch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter

import paddle

from inplace_magic.capture.frozen.calls import Freezer
from inplace_magic.capture.frozen.maps import frozen_nodes, frozen_storages
from inplace_magic.capture.frozen.writes import frozen_unseen, local_names, not_followed
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.identity import IdentityMap
from inplace_magic.capture.paddle.nodes import NodeRecord
from inplace_magic.capture.paddle.recorder import Recorder
from inplace_magic.capture.paddle.refusals import refusal_of
from inplace_magic.capture.paddle.traits import function_behind, node_traits, role_of
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.blindness import LATEST_KEPT, NAMES_LIMITED, UNKNOWN_SAVES
from inplace_magic.record.filled import filled
from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import TensorName
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources

_saved_tensor = filled(SavedTensor)


def frozen_trace(
    recorder: Recorder, options: WatchOptions, sources: Sources, names: tuple[TensorName, ...], blindness: Iterable[str]
) -> Trace:
    """Return the trace of what was recorded so far."""
    recorder.look_once_more()
    log, nodes, sites = recorder.log, recorder.nodes.records, recorder.sites.resolve(sources)
    freezer = Freezer(
        *(log, sites, recorder.sites.modules, {}, refusal_of),
        numbers=lambda values, seen: describe.values(values, seen.layout),
    )
    calls = tuple(freezer.calls(sorted(log.calls, key=itemgetter(0)), set()))
    return Trace(
        calls=calls,
        nodes=frozen_nodes(map(_row, nodes), _pending(recorder), node_traits, function_behind),
        saved=tuple(_saved(nodes)),
        storages=tuple(frozen_storages(_storages(recorder.identity, nodes))),
        readings=recorder.memory.frozen(),
        backwards=tuple(log.backwards),
        unseen=tuple(frozen_unseen(log.unseen, sites, sources, names)),
        aliases=sources.aliases(),
        bindings=tuple(recorder.passing_names.bindings(sites, calls)),
        methods=tuple(recorder.holdings.methods(calls)),
        holdings=tuple(recorder.holdings.found),
        names=names,
        local_names=tuple(local_names(recorder.passing_names, sources)),
        sources=sources.texts(),
        discarded=log.forgotten,
        blindness=(*blindness, *_not_known(recorder, options), *not_followed(log.beside, sources)),
        threads_started=log.beside.threads,
        faults=tuple(log.faults),
        level="calls",
        framework="paddle",
        framework_version=paddle.__version__,
    )


def _row(node: NodeRecord) -> tuple[object, ...]:
    """Return a node as :func:`.capture.past.packed.node_row` gives one of PyTorch's; no death of one is known."""
    return node.serial, node.name, node.sequence, node.next, node.call, node.variable, None, None, ()


def _saved(records: Iterable[NodeRecord]) -> Iterator[SavedTensor]:
    for node in records:
        for saved in node.saved:
            on = None if saved.storage is None else saved.storage.serial
            tensor = None if saved.is_clone else saved.seen.record.serial
            yield _saved_tensor(
                *(node.serial, saved.slot, on, on, saved.version, tensor, *saved.seen.layout.readable[:6]),
                checked=saved.before is not None,
                changed=saved.changed[0] if saved.changed else None,
                flips=saved.changed[1:],
                role=role_of(saved.slot),
                guarded=saved.guarded,
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
        if number in recorder.gradients.released and nodes.records[number - 1].sequence is not None
    ]
    spent: set[int] = set()
    while todo:
        number = todo.pop()
        if number not in spent:
            spent.add(number)
            todo += users.get(number, ())
    return {number for number in alive - spent if nodes.records[number - 1].saved}


def _storages(identity: IdentityMap, nodes: Iterable[NodeRecord]) -> Iterator[tuple[object, ...]]:
    """Yield all memory that was met. When a node lets go of what it keeps Paddle does not tell, so the end of that
    memory is unknown, and it counts as alive."""
    kept = {id(saved.storage) for node in nodes for saved in node.saved}
    for r in identity.storages:
        yield r.serial, r.nbytes, r.device, r.born, None if id(r) in kept else r.ended, None, None, False, None, ()


def _not_known(recorder: Recorder, options: WatchOptions) -> Iterator[str]:
    if recorder.unknown_saves:
        yield UNKNOWN_SAVES.format(call=", ".join(f"`{name}`" for name in sorted(recorder.unknown_saves)))
    if recorder.log.forgotten:
        yield LATEST_KEPT.format(
            count=f"{recorder.log.forgotten:,}", begun=f"{recorder.log.begun:,}", limit=f"{options.max_events:,}"
        )
    if recorder.holdings.is_full or recorder.passing_names.is_full:
        yield NAMES_LIMITED
