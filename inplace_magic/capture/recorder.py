"""Opens and closes a call, gathers what it did, appends to the record. The probes ask; right and wrong is the read
side's work.

During a call the recorder holds what the call itself holds; afterwards only numbers. It runs twice for every torch
call of the user's, so whatever can wait until the watch ends (source lines, text, frozen records) is left to
:mod:`.freeze`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture import describe
from inplace_magic.capture.arguments import WITHOUT_TENSORS, tensors_in
from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.forgetting import kept_calls
from inplace_magic.capture.freeze import (
    Freezer,
    RawForeignWrite,
    RawOp,
    RawUnseenWrite,
    frozen_foreign,
    frozen_nodes,
    frozen_ops,
    frozen_saved,
    frozen_storages,
    frozen_unseen,
)
from inplace_magic.capture.functions import FunctionFacts, Keywords
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.names import Namespace
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.ops import op_facts_of, restore_versions
from inplace_magic.capture.records import UNREAD, ClosedCall, Observation, TensorRecord
from inplace_magic.capture.regions import basic_index_region
from inplace_magic.capture.sources import Sources
from inplace_magic.options import WatchOptions
from inplace_magic.trace import Backward, Kind, Region, Trace


class OpenCall:
    """One call while it runs; the only record that holds tensors."""

    __slots__ = (
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
        self._begun = 0
        self.identity = IdentityMap(self.clock, options.check_values)
        self._nodes = NodeMap(self.identity, self.clock, options.check_values)
        self._calls: list[ClosedCall] = []
        self._ops: list[RawOp] = []
        self._backwards: list[Backward] = []
        self._unseen: list[RawUnseenWrite] = []
        self._foreign: list[RawForeignWrite] = []
        self._last_site: int | None = None
        self._running: list[OpenCall] = []
        self.faults: list[str] = []
        self._forgotten = 0
        self._forget_at = options.max_events

    def _bury(self) -> None:
        self.identity.bury()
        self._nodes.bury()

    def clock(self) -> int:
        """How many calls have begun."""
        return self._begun

    def begin_block(self) -> None:
        """The next call is the first of a cell: nothing is known of what ran right before it."""
        self._last_site = None

    def open(self, facts: FunctionFacts, args: tuple[Any, ...], kwargs: Keywords, frame: FrameType | None) -> OpenCall:
        """Notes a call that is about to run."""
        if self.identity.deaths or self._nodes.deaths:
            self._bury()
        if len(self._calls) >= self._forget_at:
            self._forget()
        identity = self.identity
        call = OpenCall()
        call.facts = facts
        call.tensors = tensors = tensors_in(args, [])
        if kwargs:
            tensors_in(kwargs.values(), tensors)
        call.site = site = self.sites.note(frame, facts.code)
        if identity.shared.digests:
            self._look_at_shared_memory(self._begun, site)
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
        call.index = self._begun  # a call without tensors counts only if it turns out to give one, see close()
        if tensors:
            self._begun += 1
        running = self._running
        call.parent = running[-1].index if running else None
        call.sequence = describe.sequence_number()
        call.nodes_before = self._nodes.made
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
            self._nodes.compare_values(call.index)
            self._backwards.append(self._backward(call, args, kwargs))
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
        if self.identity.deaths or self._nodes.deaths:
            self._bury()
        produced = [result] if type(result) in describe.PLAIN_TYPES else tensors_in((result,), [])
        if not call.tensors:
            if not produced:
                return
            call.index = self._begun
            self._begun += 1
        facts = call.facts
        nodes = self._nodes
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
        self._calls.append(
            _new(
                ClosedCall,
                (
                    call.index,
                    facts,
                    kind,
                    call.site,
                    call.before,
                    outputs,
                    mutations,
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

    def _forget(self) -> None:
        """Bounds memory: of the older half, keeps each line's first calls and what a backward to come may need."""
        alive = [record for record in self._nodes.records if record.ended is None]
        counters: dict[Any, int] = {}
        for saved in (saved for record in alive for saved in record.saved):
            if saved.counter is not None:
                counters[saved.counter] = min(counters.get(saved.counter, saved.version or 0), saved.version or 0)
        needed = {record.call for record in alive}
        kept = self._calls = kept_calls(self._calls, needed, counters)
        self._forgotten = self._begun - len(kept)
        self._forget_at = max(self._options.max_events, 2 * len(kept))  # a graph that is alive as a whole is kept whole
        known = {done.number for done in kept}
        oldest = kept[-self._options.max_events // 2].number if kept else 0
        self._nodes.records = [r for r in self._nodes.records if r.ended is None or r.call in known]
        self.identity.storages = [
            r for r in self.identity.storages if r.ended is None or r.ended >= oldest or r.born in known
        ]
        self._ops = [op for op in self._ops if op[1] in known]
        self._backwards = [backward for backward in self._backwards if backward.call in known]
        self._unseen = [raw for raw in self._unseen if raw.noticed >= oldest or raw.record.counter in counters]

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

    def _look_at_shared_memory(self, index: int, site: int | None) -> None:
        for storage in self.identity.shared.changed():
            self._foreign.append(RawForeignWrite(storage, index, self._last_site, site))

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
            self._unseen.append(
                RawUnseenWrite(record, counter.version, version, self._begun, counter.seen_at, self._last_site)
            )
            counter.note_write(describe.sequence_number(), counter.version)
            counter.version = version
        counter.seen_at = self._last_site
        latest = record.latest
        static = record.static
        if static is None or record.static_at != version or (call is not None and call.facts.metadata_only):
            static = record.static = describe.static(tensor)
            record.static_at = version
        node = None
        requires_grad = describe.requires_grad(tensor)
        is_view = static[6]
        if direct or not is_view or (latest is not None and latest.version == version):
            grad_fn = describe.grad_fn(tensor) if requires_grad or is_view else None
            if grad_fn is not None:
                nodes = self._nodes
                node = nodes.number(grad_fn, None) if call is None else nodes.number(grad_fn, call.index, call.sequence)
                requires_grad = describe.requires_grad(tensor)
        elif requires_grad:
            node = UNREAD
        seen: Observation = _new(Observation, (record, record.storage, version, static, requires_grad, node))
        record.latest = seen
        return seen

    def _backward(self, call: OpenCall, args: tuple[Any, ...], kwargs: Keywords) -> Backward:
        named = dict(zip(_BACKWARD_PARAMETERS[call.facts.name], args, strict=False)) | dict(kwargs)
        first = named.get("tensors", named.get("outputs", named.get("self", ())))
        roots = [self._root(tensor) for tensor in tensors_in((first,), [])]
        inputs = named.get("inputs")
        asked = None if inputs is None else [self.identity.register(t).serial for t in tensors_in((inputs,), [])]
        retain = named.get("retain_graph")
        return Backward(
            call=call.index,
            roots=tuple(root for root in roots if root is not None),
            inputs=None if asked is None else tuple(asked),
            retain_graph=bool(named.get("create_graph")) if retain is None else bool(retain),
        )

    def _root(self, tensor: torch.Tensor) -> int | None:
        """The node where backward begins; reading it is no harm, since backward itself does so next."""
        grad_fn = describe.grad_fn(tensor)
        return None if grad_fn is None else self._nodes.number(grad_fn, None)

    def op(self, func: Any, args: tuple[Any, ...], kwargs: Keywords, result: Any) -> None:
        """Notes an aten operator that ran under the innermost open call."""
        if self.identity.deaths or self._nodes.deaths:
            self._bury()
        facts = op_facts_of(func)
        restore_versions(facts, args, kwargs)
        call = self._running[-1].index if self._running else None
        in_backward = bool(self._running) and self._running[-1].facts.runs_backward
        # What backward's operators read may be older than the watch; a forward operator's unknown input was made by
        # the call itself, below the dispatcher (`torch.tensor` does).
        given = None if in_backward else call
        serial = self.identity.serial_inside
        written = facts.written_positions
        accesses: list[int] = []
        for position, value in enumerate(args):
            if type(value) in WITHOUT_TENSORS:
                continue
            for tensor in (value,) if type(value) in describe.PLAIN_TYPES else tensors_in((value,), []):
                accesses.append(~serial(tensor, given) if position in written else serial(tensor, given))
        for name, value in kwargs.items():
            for tensor in tensors_in((value,), []):
                accesses.append(~serial(tensor, given) if name in facts.written_names else serial(tensor, given))
        produced = (result,) if type(result) in describe.PLAIN_TYPES else tensors_in((result,), [])
        outputs = tuple([serial(tensor, call) for tensor in produced])
        self._ops.append((facts.name, call, in_backward, tuple(accesses), outputs))

    def fault(self, doing: str, fault: Exception) -> None:
        """Notes a fault of our own, once per kind."""
        line = (
            f"inplace_magic failed while {doing} ({type(fault).__name__}: {fault}); the cell was not affected. Please "
            "report it."
        )
        if line not in self.faults:
            self.faults.append(line)

    def freeze(self, sources: Sources, namespace: Namespace, blindness: Iterable[str], *, last: bool) -> Trace:
        """The trace of what was recorded so far.

        Args:
            sources: source text of the watched code.
            namespace: the user's names.
            blindness: what this watch cannot see at all.
            last: nothing more will be recorded; the marks that it left on autograd nodes are taken off.
        """
        self._bury()
        self._look_at_shared_memory(self._begun, None)
        self._nodes.compare_values(self._begun)
        pending = self._nodes.pending(forget=last)
        sites = self.sites.resolve(sources)
        freezer = Freezer(sites, self.sites.modules)
        said = list(blindness)
        if self.identity.shared.too_large:
            total = sum(record.nbytes for record in self.identity.shared.too_large.values())
            said.append(
                f"{len(self.identity.shared.too_large)} storages ({total:,} B) are shared with NumPy or other "
                "code outside "
                "torch and too large to be checked for writes from there; --check-values checks them."
            )
        if self._forgotten:
            said.append(
                f"{self._forgotten:,} of {self._begun:,} calls were forgotten again to bound memory (--max-events "
                f"{self._options.max_events:,}); each line's first calls, the latest calls and all that may still "
                "matter to a backward were kept. Memory by line covers only what was kept."
            )
        return Trace(
            calls=tuple(freezer.call(done) for done in sorted(self._calls, key=lambda done: done.number)),
            nodes=frozen_nodes(self._nodes.records, pending),
            saved=frozen_saved(self._nodes.records),
            storages=frozen_storages(self.identity.storages),
            backwards=tuple(self._backwards),
            ops=frozen_ops(self._ops),
            unseen=tuple(frozen_unseen(raw, sites, sources, namespace.names) for raw in self._unseen),
            foreign=tuple(
                frozen_foreign(raw, sites, sources, namespace.arrays.get(raw.storage.serial, ()))
                for raw in self._foreign
            ),
            aliases=sources.aliases(),
            hooked_modules=namespace.hooked_modules,
            names=namespace.names,
            blindness=tuple(said),
            faults=tuple(self.faults),
            level=self._options.level,
            torch_version=torch.__version__,
        )


def _is_among(tensor: torch.Tensor, others: list[torch.Tensor]) -> bool:
    for other in others:  # noqa: SIM110  not `in`, which asks for equality; and a generator costs more
        if tensor is other:
            return True
    return False


def _written_region(call: OpenCall, args: tuple[Any, ...]) -> Region | None:
    if call.facts.key != "__setitem__" or len(args) < 2 or not call.before:
        return None
    shape, strides, offset = call.before[0].static[:3]
    if shape is None or strides is None or offset is None:
        return None
    return basic_index_region(tuple(shape), strides, offset, args[1])


_BACKWARD_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "torch.autograd.backward": ("tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs"),
    "Tensor.backward": ("self", "gradient", "retain_graph", "create_graph", "inputs"),
    "torch.autograd.grad": ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph"),
}
