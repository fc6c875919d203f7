"""Opens and closes a call, gathers what it did, appends to the record. The probes ask; right and wrong is the read
side's work.

During a call the recorder holds what the call itself holds; afterwards only numbers. It runs twice for every torch
call of the user's, so whatever can wait until the watch ends (source lines, text, frozen records) is left to
:mod:`.freeze`.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from inplace_magic.capture import describe
from inplace_magic.capture.arguments import WITHOUT_TENSORS, tensors_in
from inplace_magic.capture.backward import backward_of
from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.forgetting import forget
from inplace_magic.capture.functions import FunctionFacts, Keywords
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.memory import MemoryMeter, note_gradients, without_gradient
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.ops import op_facts_of, restore_versions
from inplace_magic.capture.records import (
    UNREAD,
    ClosedCall,
    Log,
    Observation,
    RawForeignWrite,
    RawUnseenWrite,
    TensorRecord,
)
from inplace_magic.capture.regions import basic_index_region
from inplace_magic.options import WatchOptions
from inplace_magic.trace import Kind, Region


class OpenCall:
    """One call while it runs; the only record that holds tensors."""

    __slots__ = (
        "bare_leaves",
        "before",
        "facts",
        "index",
        "keeps_layout",
        "nodes_before",
        "parent",
        "produced",
        "region",
        "sequence",
        "site",
        "targets",
        "tensors",
        "uncounted",
        "values",
        "written",
    )

    index: int
    facts: FunctionFacts
    tensors: list[torch.Tensor]
    before: list[Observation]
    site: int | None
    sequence: int
    nodes_before: int
    bare_leaves: list[TensorRecord]
    """Of a backward: the leaves that had no gradient when it began."""
    parent: int | None
    targets: list[torch.Tensor]
    """What the call announces to write."""
    uncounted: list[torch.Tensor]
    """What it is known to write without moving a version."""
    values: dict[int, Any]
    """Elements of small targets before the call, by ``id``."""
    region: Region | None
    """What ``x[index] = …`` writes."""
    keeps_layout: bool
    """Whether a write leaves shape, strides and memory as they are."""
    produced: list[torch.Tensor]
    written: list[tuple[torch.Tensor, TensorRecord, int | None]]
    """(tensor, record, version before)."""


_NONE: list[Any] = []
_NOTHING: dict[Any, Any] = {}
_new = tuple.__new__
"""Makes a named tuple without the detour through its Python ``__new__``."""


class Recorder:
    """Collects one watch."""

    def __init__(self, options: WatchOptions) -> None:
        self._options = options
        self.sites = CallsiteTable()
        self.log = Log()
        self.identity = IdentityMap(self.clock, options.check_values)
        self.nodes = NodeMap(self.identity, self.clock, options.check_values)
        self.meter = MemoryMeter()
        if options.level == "ops":
            self.identity.ops = 0
        self._last_site: int | None = None
        self._running: list[OpenCall] = []
        self._forget_at = options.max_events

    def bury(self) -> None:
        """Notes which tensors, storages and nodes died."""
        self.identity.bury()
        self.nodes.bury()

    def clock(self) -> int:
        """How many calls have begun."""
        return self.log.begun

    def begin_block(self) -> None:
        """The next call is the first of a cell: nothing is known of what ran right before it."""
        self._last_site = None
        self.meter.read(None)

    def end_block(self) -> None:
        """The cell has ended; what happens from now on is nobody's."""
        self.bury()
        self.identity.look_at_all_sizes()
        self.meter.read(None)

    def open(self, facts: FunctionFacts, args: tuple[Any, ...], kwargs: Keywords, frame: FrameType | None) -> OpenCall:
        """Notes a call that is about to run."""
        if self.identity.deaths or self.nodes.deaths:
            self.bury()
        if len(self.log.calls) >= self._forget_at:
            self._forget_at = forget(self.log, self.identity, self.nodes, self._options.max_events)
            self.meter.forget({done.number for done in self.log.calls})
        identity = self.identity
        call = OpenCall()
        call.facts = facts
        call.tensors = tensors = tensors_in(args, [])
        if kwargs:
            tensors_in(kwargs.values(), tensors)
        call.site = site = self.sites.note(frame, facts.code)
        if identity.shared.digests:
            self._look_at_shared_memory(site)
        self._last_site = site
        call.before = before = []
        known = identity.tensors
        version = describe.version
        for tensor in tensors:
            record = known.get(id(tensor))
            if record is None:
                record = identity.register(tensor)
            latest = record.latest
            if latest is None or latest.version != version(tensor):
                latest = self._observe(tensor, record, None, direct=False)
            else:  # an unchanged version means an unchanged tensor
                record.counter.seen_at = site
            before.append(latest)
        call.index = self.log.begun  # a call without tensors counts only if it turns out to give one, see close()
        if tensors:
            self.log.begun += 1
        running = self._running
        call.parent = running[-1].index if running else None
        call.sequence = describe.sequence_number()
        call.nodes_before = self.nodes.made
        call.uncounted = facts.uncounted(args, kwargs) if facts.uncounted is not None else _NONE
        announced = facts.announced_writes(args, kwargs) if facts.may_write or kwargs else ()
        call.targets = tensors_in(announced, []) if announced else _NONE
        call.keeps_layout = facts.keeps_layout and "out" not in kwargs
        call.values = _NOTHING
        call.produced = call.written = _NONE
        call.region = None
        if call.targets:
            self._look_at_targets(call, args)
        if facts.runs_backward:
            self.nodes.compare_values(call.index)
            self.log.backwards.append(backward_of(facts, call.index, args, kwargs, identity, self.nodes))
            call.bare_leaves = without_gradient(self.nodes.live_leaves())
        if not self.meter.idle:
            self.meter.read(call.index)
        running.append(call)
        return call

    def _look_at_targets(self, call: OpenCall, args: tuple[Any, ...]) -> None:
        for tensor in call.targets:
            values = describe.values(tensor, self._options.max_values)
            if values is not None:
                call.values = {**call.values, id(tensor): values}
        call.region = _written_region(call, args)

    def close(self, call: OpenCall, result: Any = None, error: BaseException | None = None) -> None:
        """Notes how a call ended; :meth:`drop` must follow."""
        if self.identity.deaths or self.nodes.deaths:
            self.bury()
        produced = [result] if type(result) in describe.PLAIN_TYPES else tensors_in((result,), [])
        if not call.tensors:
            if not produced:
                return
            call.index = self.log.begun
            self.log.begun += 1
        facts = call.facts
        nodes = self.nodes
        if facts.runs_backward:
            note_gradients(call.bare_leaves, self.identity, call.index)
        if call.parent is not None and not self.meter.idle:
            self.meter.read(call.parent)
        if not call.keeps_layout:
            for tensor in call.tensors:
                self.identity.look_at_size(tensor, call.index)
        if facts.exports:
            self._exported(call)
        if self.identity.shared.digests:
            self.identity.shared.changed()  # what this call wrote was no foreign write
        call.produced = produced
        call.written = written = self._writes(call, produced)
        if written:
            nodes.moved = {entry[1].counter: entry[2] for entry in written}
            outputs, fresh, shared = self._outputs(call, produced)
            mutations = [self._mutation(call, *entry) for entry in written]
            nodes.moved = _NOTHING
        else:
            outputs, fresh, shared = self._outputs(call, produced)
            mutations = _NONE
        if nodes.made != call.nodes_before:
            for tensor, seen in zip(call.tensors, call.before, strict=True):
                if seen.node == UNREAD:
                    seen.record.used_at = describe.version(tensor)
        kind: Kind
        if facts.metadata_only:
            kind = "metadata"
        elif written or (error is not None and call.targets):
            kind = "in-place"
        elif fresh:
            kind = "ordinary"
        elif shared:
            kind = "view"
        else:
            kind = "query"
        self.log.calls.append(
            _new(
                ClosedCall,
                (
                    call.index,
                    facts,
                    kind,
                    call.site,
                    tuple(call.before),
                    tuple(outputs),
                    tuple(mutations),
                    None if error is None else describe.error_text(error),
                    call.parent,
                    torch.is_grad_enabled(),
                    call.sequence,
                ),
            )
        )

    def drop(self, call: OpenCall) -> None:
        """Lets go of a call that is over, and of any above it that never came to its end, with the tensors they
        hold."""
        running = self._running
        while running:
            last = running.pop()
            last.tensors = last.targets = last.uncounted = last.produced = last.written = _NONE
            if last is call:
                break

    def _writes(
        self, call: OpenCall, produced: list[torch.Tensor]
    ) -> list[tuple[torch.Tensor, TensorRecord, int | None]]:
        """(tensor, record, version before) of the inputs whose version counter moved, each counter once, and of those
        known to be written without moving one."""
        found = _NONE
        version_of = describe.version
        for tensor, seen in zip(call.tensors, call.before, strict=True):
            version = version_of(tensor)
            if version == seen.version:
                continue
            record = seen.record
            if call.keeps_layout and record.static_at == seen.version:
                record.static_at = version
            counter = record.counter
            for place, entry in enumerate(found):
                if entry[1].counter is counter:
                    if _is_among(tensor, produced):
                        found[place] = (tensor, record, seen.version)
                    break
            else:
                found = [*found, (tensor, record, seen.version)]
                counter.note_write(call.sequence, seen.version)
                counter.version = version
        if call.facts.metadata_only and call.tensors:
            self.identity.rebase(call.tensors[0], call.before[0].record, call.index)
        if call.uncounted or (call.targets and describe.version(call.targets[0]) is None):
            for tensor in (*call.uncounted, *(t for t in call.targets if describe.version(t) is None)):
                record = self.identity.register(tensor)
                if all(entry[1].counter is not record.counter for entry in found):
                    found = [*found, (tensor, record, describe.version(tensor))]
        return found

    def _mutation(
        self, call: OpenCall, tensor: torch.Tensor, record: TensorRecord, before: int | None
    ) -> tuple[Observation, int | None, Any, Any, Region | None]:
        old = call.values.get(id(tensor))
        new = describe.values(tensor, self._options.max_values) if old is not None else None
        region = call.region if tensor is call.tensors[0] else None
        after = record.latest if _is_among(tensor, call.produced) else None  # just seen among the outputs
        return after or self._observe(tensor, record, call, direct=False), before, old, new, region

    def _exported(self, call: OpenCall) -> None:
        for seen in call.before:
            if seen.storage is not None:
                self.identity.shared.add(seen.storage)

    def _look_at_shared_memory(self, site: int | None) -> None:
        for storage in self.identity.shared.changed():
            self.log.foreign.append(RawForeignWrite(storage, self.log.begun, self._last_site, site))

    def look_once_more(self) -> None:
        """Notes, between calls, what died and what code outside torch wrote since the last call."""
        self.bury()
        self._look_at_shared_memory(None)
        self.nodes.compare_values(self.log.begun)

    def _outputs(self, call: OpenCall, produced: list[torch.Tensor]) -> tuple[list[Observation], bool, bool]:
        """The outputs; whether one has a storage of its own, and whether one shares an input's."""
        if not produced:
            return _NONE, False, False
        described: list[Observation] = []
        fresh = shared = False
        identity = self.identity
        for tensor in produced:
            record = identity.known(tensor)
            storage = record.storage if record is not None else identity.storage_of(tensor, call.index)
            donor = None
            for seen in call.before:
                if seen.record is record or (storage is not None and seen.storage is storage):
                    donor = seen.record
                    break
            if donor is not None:
                shared = True
            else:
                fresh = True
            if record is None:
                record = identity.enter(tensor, storage, None if call.facts.aliases_data else donor)
                direct = True
            else:
                direct = any(tensor is entry[0] for entry in call.written) if call.written else False
            described.append(self._observe(tensor, record, call, direct=direct))
        return described, fresh, shared

    def _observe(
        self, tensor: torch.Tensor, record: TensorRecord, call: OpenCall | None, *, direct: bool
    ) -> Observation:
        """The tensor as it is now.

        Args:
            tensor: the live tensor.
            record: its record.
            call: the call that just returned; None for an input, before the call.
            direct: the call made the tensor, or wrote it and handed it out, so that its ``grad_fn`` is up to date.
                Else the ``grad_fn`` of a view is left alone: after a write of its base, the very reading would make
                autograd bring the view's graph up to date, at another moment than in the unwatched run.
        """
        version = describe.version(tensor)
        counter = record.counter
        if version != counter.version:
            self.log.unseen.append(
                RawUnseenWrite(record, counter.version, version, self.log.begun, counter.seen_at, self._last_site)
            )
            counter.note_write(describe.sequence_number(), counter.version)
            counter.version = version
        counter.seen_at = self._last_site
        latest = record.latest
        static = record.static
        if static is None or record.static_at != version or (call is not None and call.facts.metadata_only):
            static = record.static = describe.static(tensor)
            record.key = static[2]  # the same number: one object for both
            record.static_at = version
        node = None
        requires_grad = describe.requires_grad(tensor)
        is_view = static[0][5]
        if direct or not is_view or (latest is not None and latest.version == version):
            grad_fn = describe.grad_fn(tensor) if requires_grad or is_view else None
            if grad_fn is not None:
                nodes = self.nodes
                node = nodes.number(grad_fn, None) if call is None else nodes.number(grad_fn, call.index, call.sequence)
                requires_grad = describe.requires_grad(tensor)
        elif requires_grad:
            node = UNREAD
        seen: Observation = _new(Observation, (record, record.storage, version, static, requires_grad, node))
        record.latest = seen
        return seen

    def op_begins(self) -> None:
        """What an accelerator's memory is from here on is billed to the operator that is about to run."""
        if not self.meter.idle:
            self.meter.read(self._running[-1].index if self._running else None, len(self.log.ops))

    def op(self, func: Any, args: tuple[Any, ...], kwargs: Keywords, result: Any) -> None:
        """Notes an aten operator that ran under the innermost open call."""
        if self.identity.deaths or self.nodes.deaths:
            self.bury()
        facts = op_facts_of(func)
        if facts.written_lists:
            restore_versions(facts, args, kwargs)
        running = self._running[-1] if self._running else None
        call = running.index if running is not None else None
        in_backward = running is not None and running.facts.runs_backward
        # What backward's operators read may be older than the watch; a forward operator's unknown input was made by
        # the call itself, below the dispatcher (`torch.tensor` does).
        given = None if in_backward else call
        identity = self.identity
        serial = identity.serial_inside
        written = facts.written_positions
        accesses: list[int] = []
        for position, value in enumerate(args):
            kind = type(value)
            if kind in describe.PLAIN_TYPES:
                accesses.append(~serial(value, given) if position in written else serial(value, given))
            elif kind not in WITHOUT_TENSORS:
                for tensor in tensors_in((value,), []):
                    accesses.append(~serial(tensor, given) if position in written else serial(tensor, given))
        for name, value in kwargs.items():
            for tensor in tensors_in((value,), []):
                accesses.append(~serial(tensor, given) if name in facts.written_names else serial(tensor, given))
        number = identity.op = len(self.log.ops)
        try:
            if type(result) in describe.PLAIN_TYPES:
                outputs: tuple[int, ...] = (serial(result, call),)
            else:
                outputs = tuple([serial(tensor, call) for tensor in tensors_in((result,), [])])
        finally:
            identity.op = None
        if facts.may_resize:
            for tensor in tensors_in((args, kwargs.values()), []):
                identity.look_at_size(tensor, call, number)
        self.log.ops.append((facts.name, call, in_backward, tuple(accesses), outputs))
        identity.ops = number + 1

    def fault(self, doing: str, fault: Exception) -> None:
        """Notes a fault of our own, once per kind."""
        line = (
            f"inplace_magic failed while {doing} ({type(fault).__name__}: {fault}); the cell was not affected. Please "
            "report it."
        )
        if line not in self.log.faults:
            self.log.faults.append(line)


def _is_among(tensor: torch.Tensor, others: list[torch.Tensor]) -> bool:
    for other in others:  # noqa: SIM110  not `in`, which asks for equality; and a generator costs more
        if tensor is other:
            return True
    return False


def _written_region(call: OpenCall, args: tuple[Any, ...]) -> Region | None:
    if call.facts.key != "__setitem__" or len(args) < 2 or not call.before:
        return None
    shape, strides, offset = call.before[0].static[0][:3]
    if shape is None or strides is None or offset is None:
        return None
    return basic_index_region(tuple(shape), strides, offset, args[1])
