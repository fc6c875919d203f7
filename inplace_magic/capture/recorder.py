"""Open and close a call, gather its effects, append to the record. The probes call it; judging is the read side's work.

During a call the recorder holds what the call itself holds; afterwards only numbers. It runs twice for every torch
call of the user's, so whatever can wait until the watch ends (source lines, text, frozen records) is left to
:mod:`.freeze`, and what most calls do not do is in methods of its own.
"""

from __future__ import annotations

from threading import RLock
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.graph.backward import backward_of, gradients_before, gradients_written
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import Log
from inplace_magic.capture.names import TORCH_KINDS
from inplace_magic.capture.naming.holdings import Holdings
from inplace_magic.capture.naming.passing_names import PassingNames
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.observer import Observer
from inplace_magic.capture.past.repeats import Repeats
from inplace_magic.capture.past.room import Room
from inplace_magic.capture.records import NODE, RECORD, STORAGE, UNREAD, VERSION
from inplace_magic.capture.results import NO_OUTPUTS, Results
from inplace_magic.capture.running import OpenCall, OpenCalls
from inplace_magic.capture.torch import describe, describe_nodes
from inplace_magic.capture.torch.arguments import WITHOUT_TENSORS, Keywords, tensors_in
from inplace_magic.capture.torch.callers import TORCH_FRAMES
from inplace_magic.capture.torch.functions import FunctionFacts
from inplace_magic.capture.torch.hooks.hooked import HookedLayers
from inplace_magic.capture.torch.memory import MemoryMeter
from inplace_magic.errors import error_text
from inplace_magic.record.events import Kind
from inplace_magic.record.options import WatchOptions

_NONE: list[Any] = []
_NOTHING: dict[Any, Any] = {}
_PLAIN_TYPES = describe.PLAIN_TYPES
_is_grad_enabled, _sequence_number = torch.is_grad_enabled, describe_nodes.sequence_number


class Recorder:
    """Collects one watch."""

    def __init__(self, options: WatchOptions) -> None:
        self.sites = CallsiteTable(TORCH_FRAMES, modules=options.level != "writes")
        self.log = Log()
        self.identity = IdentityMap(self.clock, options.check_values)
        self.nodes = NodeMap(self.identity, self.clock, options.check_values)
        self.meter = MemoryMeter()
        if options.level == "ops":
            self.identity.ops = 0
        self.observer = Observer(self.log, self.identity, self.nodes)
        self.places_met = 0
        self.passing_names = PassingNames(self.identity, self.sites.is_users, TORCH_KINDS)
        self.holdings = Holdings(self.sites.is_users, self.identity.known, TORCH_KINDS, describe.base)
        self._held = self.holdings.held
        self._hooked = HookedLayers(self.sites, self.log, self.identity)
        self._results = Results(self.identity, self.observer, self.log, options.max_values)
        self.running = OpenCalls()
        self.alone = RLock()
        """Lock of the record: backward can run on several threads at once, see :class:`OpenCalls`."""
        self.room = Room(self.log, self.identity, self.nodes, options.max_events)
        self.look_at = self.room.look_at
        self._deaths, self._node_deaths = self.identity.deaths, self.nodes.deaths
        self._shared = self.identity.shared
        self._digests = self._shared.digests
        self.repeats = Repeats(self.log, self.identity, self.nodes, self.sites, self.running, self.observer, options)

    def bury(self) -> None:
        """Notes which tensors, storages and nodes died."""
        self.identity.bury()
        self.nodes.bury()

    def clock(self) -> int:
        """How many calls have begun."""
        return self.log.begun

    def begin_block(self) -> None:
        """Mark the next call as the first of a cell: the code right before it is unknown."""
        self.observer.site = None
        self.running.begin_block()
        self.log.beside.begin()
        self.meter.read(None)

    def end_block(self) -> None:
        """Mark the end of the cell; later events belong to no cell."""
        self.log.beside.end()
        self.repeats.end()
        self.bury()
        self.identity.look_at_all_sizes()
        self.meter.read(None)

    def open(self, facts: FunctionFacts, args: tuple[Any, ...], kwargs: Keywords, frame: FrameType | None) -> OpenCall:
        """Note a call that is about to run."""
        if self.repeats.more:
            self.repeats.settle()
        if self._deaths:
            self.identity.bury()
        if self._node_deaths:
            self.nodes.bury()
        log = self.log
        if len(log.calls) >= self.look_at:
            self.look_at = self.room.make_room(self.meter)
        call = OpenCall()
        call.facts = facts
        call.tensors = tensors = tensors_in(args, [])
        if kwargs:
            tensors_in(kwargs.values(), tensors)
        call.site = site = self.sites.note(frame, facts.code)
        if site is not None and site >= self.places_met:
            self.places_met = site + 1
            self.passing_names.look(frame, log.begun, site)
        observer = self.observer
        if self._digests:
            observer.look_at_shared(site)
        observer.site = site
        call.before = before = []
        identity, known = self.identity, self.identity.tensors
        for tensor in tensors:
            record = known.get(id(tensor))
            if record is None:
                record = identity.enter(tensor, identity.storage_of(tensor))
                before.append(observer.look(tensor, record, None, direct=False))
                continue
            latest = record.latest
            try:  # as `describe.version`, whose call costs more than its answer
                version = tensor._version if type(tensor) in _PLAIN_TYPES else describe.version(tensor)
            except RuntimeError:
                version = None
            if latest is None or latest[VERSION] != version:
                latest = observer.look(tensor, record, None, direct=False)
            else:  # an unchanged version means an unchanged tensor
                record.counter.seen_at = site
            before.append(latest)
        if self._shared.aside:
            observer.look_aside(call, site)
        call.index = log.begun  # a call without tensors counts only if it turns out to give one, see close()
        if tensors:
            log.begun += 1
        running = self.running.here()
        call.parent = running[-1].index if running else None
        call.sequence = _sequence_number()
        call.nodes_before = self.nodes.made
        call.keeps_layout = facts.keeps_layout
        call.uncounted = call.targets = call.produced = call.written = _NONE
        call.values = _NOTHING
        call.region = None
        if facts.may_write or kwargs or facts.uncounted is not None:
            self._results.announced(call, args, kwargs)
            if call.targets or call.uncounted:
                self.sites.note_library(frame, site, facts.name, facts.code)
                self.holdings.note(frame, call.index, site, call.targets, writes=True)
        if self._held and not call.targets:
            for seen in before:
                if seen[RECORD].serial in self._held:
                    self.holdings.note(frame, call.index, site, tensors, writes=False)
                    break
        if facts.runs_backward:
            if call.parent != call.index - 1 or not running[-1].facts.runs_backward:
                self.nodes.compare_values(call.index)  # `Tensor.backward` has looked before it calls the function
            log.backwards.append(backward_of(facts, call.index, args, kwargs, self.identity, self.nodes))
            call.gradients = gradients_before(self.nodes.live_leaves(), self.identity)
        if not self.meter.idle:
            self.meter.read(call.index)
        running.append(call)
        return call

    def close(self, call: OpenCall, result: Any = None, error: BaseException | None = None) -> None:
        """Notes how a call ended; :meth:`drop` must follow."""
        if self._deaths:
            self.identity.bury()
        if self._node_deaths:
            self.nodes.bury()
        kind_of = type(result)
        if kind_of in _PLAIN_TYPES:
            produced = [result]
        else:
            produced = _NONE if kind_of in WITHOUT_TENSORS else tensors_in((result,), [])
        if not call.tensors:
            if not produced:
                return
            call.index = self.log.begun
            self.log.begun += 1
        facts = call.facts
        nodes = self.nodes
        if facts.runs_backward:
            self.log.note_added(call.index, gradients_written(call.gradients, self.identity, call.index))
            self.identity.backward_is_over()
        if call.parent is not None and not self.meter.idle:
            self.meter.read(call.parent)
        if not call.keeps_layout:
            for tensor in call.tensors:
                self.identity.look_at_size(tensor, call.index)
        if facts.exports:
            for seen in call.before:
                if seen[STORAGE] is not None:
                    self._shared.add(seen[STORAGE])
        if self._digests:  # what this call wrote was no foreign write
            self._shared.changed()
            if facts.runs_backward:
                self._shared.changed_aside()
        call.produced, call.ids = produced, None
        results = self._results
        call.written = written = results.writes(call)
        if written:
            nodes.moved = {entry[1].counter: entry[2] for entry in written}
            outputs, fresh, shared = results.outputs(call, produced)
            mutations: list[Any] = []
            for entry in written:
                mutations += results.mutation(call, *entry)
            nodes.moved = _NOTHING
            if self.sites.hooks:
                self._hooked.note(call)
        else:
            outputs, fresh, shared = results.outputs(call, produced) if produced else NO_OUTPUTS
            mutations = _NONE
        if nodes.made != call.nodes_before:
            for place, seen in enumerate(call.before):
                if seen[NODE] == UNREAD:
                    seen[RECORD].used_at = describe.version(call.tensors[place])
        kind: Kind
        if facts.metadata_only:
            kind = "metadata"
            if facts.attribute == "requires_grad" and error is None:  # no version tells of it, and nothing is returned
                self.observer.look(call.tensors[0], call.before[0][RECORD], call, direct=False)
        elif written or (error is not None and call.targets):
            kind = "in-place"
        elif fresh:
            kind = "ordinary"
        elif shared:
            kind = "view"
        else:
            kind = "query"
        before = call.before
        self.log.calls.append(
            (
                call.index,
                facts,
                kind,
                call.site,
                None if error is None else error_text(error),
                call.parent,
                _is_grad_enabled(),
                call.sequence,
                len(before),
                len(outputs),
                *before,
                *outputs,
                *mutations,
            )
        )
        if facts.repeats and len(written) == 1 and error is None:
            self.repeats.note(call)

    def drop(self, call: OpenCall) -> None:
        """Lets go of a call that is over, of its tensors, and of any call above it that never ended."""
        running = self.running.here()
        while running:
            last = running.pop()
            last.tensors = last.targets = last.uncounted = last.produced = last.written = _NONE
            if last is call:
                break

    def look_once_more(self) -> None:
        """Notes, between calls, what died and what code outside torch wrote since the last call."""
        self.repeats.settle()
        self.bury()
        self.observer.look_at_shared(None)
        self.observer.look_aside(None, None)
        self.nodes.compare_values(self.log.begun)

    def look_at_moved(self, site: int | None) -> None:
        """Notes, before work at this place that is not watched, what was written unseen until now."""
        self.bury()
        self.observer.site = site
        self.observer.look_at_moved()

    def add_moved(self, call: OpenCall) -> None:
        """Adds to a call that was not watched, before :meth:`close`, the tensors met so far that it wrote. What it had
        written when Python code that it ran met one of its arguments is no unseen write: it is the call's."""
        self.bury()
        given = {seen[RECORD].counter.serial for seen in call.before}
        unseen = self.log.unseen
        unseen[call.unseen :] = [raw for raw in unseen[call.unseen :] if raw[0].counter not in given]
        moved = self.observer.moved(call.before)
        if moved and not call.tensors:  # a call without tensors has no number yet
            call.index = self.log.begun
            self.log.begun += 1
        if moved:
            call.tensors = [*call.tensors, *(tensor for tensor, _ in moved)]
            call.before = [*call.before, *(before for _, before in moved)]
