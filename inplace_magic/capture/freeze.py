"""Raw records -> the frozen trace, after the watch. Everything that could wait is done here: names, text, readable
facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from operator import attrgetter, itemgetter

import torch

from inplace_magic.capture.frozen import maps, writes
from inplace_magic.capture.frozen.calls import Freezer
from inplace_magic.capture.frozen.writes import site_at
from inplace_magic.capture.graph.backward import pending_nodes
from inplace_magic.capture.log import Log
from inplace_magic.capture.names import Namespace, inplace_modules, module_names
from inplace_magic.capture.past.packed import STORAGE, node_row, once_each
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import traits
from inplace_magic.capture.torch.describe_memory import flat
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.record import blindness
from inplace_magic.record.autograd import Registration
from inplace_magic.record.events import CallEvent
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources


def frozen_trace(
    recorder: Recorder,
    options: WatchOptions,
    sources: Sources,
    namespace: Namespace,
    unseen: Iterable[str],
    *,
    last: bool,
) -> Trace:
    """Return the trace of what was recorded so far.

    Args:
        last: nothing more will be recorded; remove the marks on autograd nodes.
    """
    recorder.look_once_more()
    log, nodes, identity = recorder.log, recorder.nodes, recorder.identity
    pending = pending_nodes(nodes, identity, forget=last)
    sites = recorder.sites.resolve(sources)
    expressions = recorder.sites.library_expressions(sources)
    freezer = Freezer(log, sites, recorder.sites.modules, expressions, refusal_of, lambda values, _seen: flat(values))
    packed = recorder.room.packed
    giving: set[int | None] = set()
    made: list[CallEvent] = []
    objects = packed.objects
    for rows, observations in packed.rows():
        made += freezer.packed_calls(rows, observations, objects, giving)
    made += freezer.calls(log.calls, giving)
    calls = tuple(once_each(made, attrgetter("index")))
    records = once_each(chain(packed.nodes(), map(node_row, nodes.records)), itemgetter(0))
    storages = once_each(chain(packed.storages(), map(STORAGE, identity.storages)), itemgetter(0))
    blocks, readings = maps.frozen_storages(storages), recorder.meter.readings
    if log.forgotten_ops:
        kept = log.op_numbers
        blocks = maps.among_kept(blocks, kept)
        readings = [replace(each, op=maps.position(kept, each.op)) for each in readings]
    return Trace(
        calls=calls,
        nodes=maps.frozen_nodes(records, pending, traits.node_traits, traits.function_behind),
        saved=maps.frozen_saved(records, traits.saved_role),
        storages=tuple(blocks),
        readings=tuple(readings),
        backwards=tuple(log.backwards),
        idle_steps=tuple([replace(step, callsite=site_at(site, sites)) for site, step in log.idle_steps]),
        registrations=tuple(_telling(log.registrations, calls, sites)),
        ops=maps.frozen_ops(log.ops),
        unseen=tuple(writes.frozen_unseen(log.unseen, sites, sources, namespace.names)),
        foreign=tuple(writes.frozen_foreign(log.foreign, sites, sources, namespace.arrays, giving)),
        aliases=sources.aliases(),
        bindings=tuple(recorder.passing_names.bindings(sites, calls)),
        methods=tuple(recorder.holdings.methods(calls)),
        holdings=tuple(recorder.holdings.found),
        sources=sources.texts(),
        hooked_modules=namespace.hooked_modules,
        kept_by_hooks=tuple(log.kept),
        inplace_modules=inplace_modules(namespace.modules, sources),
        names=namespace.names,
        local_names=tuple(writes.local_names(recorder.passing_names, sources)),
        module_names=module_names(namespace.modules, namespace.names),
        discarded=log.forgotten,
        blindness=(
            *_not_seen(log, sites),
            *unseen,
            *_limits_reached(recorder, options, sites),
            *writes.not_followed(log.beside, sources),
        ),
        threads_started=log.beside.threads,
        faults=tuple(log.faults),
        level=options.level,
        torch_version=torch.__version__,
    )


def _telling(
    given: list[tuple[int | None, Registration]], calls: Iterable[CallEvent], sites: list[Callsite]
) -> Iterator[Registration]:
    """Yield the registrations of parameters that replaced others, or lie where something with a history lay. A module
    that makes its parameters and keeps them, as all do, tells nothing."""
    metas = chain.from_iterable([(*call.inputs, *call.outputs) for call in calls] if given else ())
    with_history = {meta.storage for meta in metas if meta.node is not None}
    for site, entry in given:
        if entry.replaced is not None or (entry.storage is not None and entry.storage in with_history):
            yield replace(entry, callsite=site_at(site, sites))


_MOST_TOLD = 6
"""Most lines of unwatched work that are reported one by one."""


def _not_seen(log: Log, sites: list[Callsite]) -> Iterator[str]:
    told: dict[str, None] = {}
    for (sentence, name, number), count in log.not_seen.items():
        site = site_at(number, sites)
        call = " ".join((name if site is None else site.expression or site.text or name).split())
        place = site.place if site is not None else "line 0"
        told[sentence.format(call=call, place=place, count=f"{count or 1:,}")] = None
    yield from list(told)[:_MOST_TOLD]
    if len(told) > _MOST_TOLD:
        yield blindness.NOT_SEEN_MORE.format(count=f"{len(told) - _MOST_TOLD:,}")


def _limits_reached(recorder: Recorder, options: WatchOptions, sites: list[Callsite]) -> Iterator[str]:
    log, nodes, shared = recorder.log, recorder.nodes, recorder.identity.shared
    if shared.too_large:
        total = sum(record.nbytes for record in shared.too_large.values())
        yield blindness.TOO_LARGE.format(count=len(shared.too_large), nbytes=f"{total:,}")
    if nodes.unread and nodes.unread_from is not None:
        yield blindness.TOO_DEEP.format(place=sites[nodes.unread_from].place, count=f"{nodes.unread:,}")
    if log.no_room:
        yield blindness.NO_ROOM
    if log.light:
        yield blindness.REPEATED.format(count=f"{log.light:,}")
    if log.forgotten:
        yield blindness.FORGOTTEN.format(
            count=f"{log.forgotten:,}", begun=f"{log.ran:,}", limit=f"{options.max_events:,}"
        )
        yield blindness.NOT_JUDGED
    if log.registrations_full or recorder.holdings.is_full or recorder.passing_names.is_full:
        yield blindness.NAMES_LIMITED
