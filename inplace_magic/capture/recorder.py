"""Opens and closes a call, gathers what it did, appends to the trace. The probes ask, the recorder decides nothing about right
and wrong: that is the read side's work.

During a call the recorder holds what the call itself holds; afterwards only numbers. Whatever can wait until the watch ends
(source lines, text, frozen records) waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture import describe
from inplace_magic.capture.callsite import CallsiteTable, Sources
from inplace_magic.capture.functions import FunctionFacts, Keywords
from inplace_magic.capture.identity import IdentityMap, TensorRecord
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.ops import op_facts_of, restore_versions
from inplace_magic.options import WatchOptions
from inplace_magic.trace import Access, AccessType, Backward, CallEvent, Callsite, Kind, Mutation, OpEvent, TensorMetadata, TensorName, Trace, UnseenWrite


class OpenCall:
    """One call while it runs."""

    __slots__ = ("before", "facts", "index", "parent", "records", "sequence", "site", "targets", "tensors", "uncounted", "values")

    index: int
    facts: FunctionFacts
    tensors: list[torch.Tensor]
    records: list[TensorRecord]
    before: list[TensorMetadata]
    site: int | None
    sequence: int
    parent: int | None
    targets: list[torch.Tensor]
    uncounted: list[torch.Tensor]
    values: dict[int, Any]


class ClosedCall:
    """One call after it ran: numbers only."""

    __slots__ = ("error", "facts", "grad_enabled", "index", "inputs", "kind", "mutated", "mutations", "outputs", "parent", "sequence", "site")

    index: int
    facts: FunctionFacts
    sequence: int
    kind: Kind
    site: int | None
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]
    mutations: list[tuple[TensorRecord, int | None, int | None, Any, Any]]
    mutated: list[TensorMetadata]
    error: str | None
    parent: int | None
    grad_enabled: bool


class Recorder:
    """Collects one watch."""

    def __init__(self, options: WatchOptions) -> None:
        self._options = options
        self.sites = CallsiteTable()
        self._begun = 0
        self.identity = IdentityMap(self.clock)
        self._nodes = NodeMap(self.identity, self.clock)
        self._calls: list[ClosedCall] = []
        self._ops: list[OpEvent] = []
        self._backwards: list[Backward] = []
        self._unseen: list[UnseenWrite] = []
        self._running: list[OpenCall] = []
        self.faults: list[str] = []
        self._dropped = 0

    def clock(self) -> int:
        """How many calls have begun."""
        return self._begun

    def open(self, facts: FunctionFacts, args: tuple[Any, ...], kwargs: Keywords, frame: FrameType | None) -> OpenCall | None:
        """Notes a call that is about to run; None when it is not recorded."""
        if self._begun >= self._options.max_events:
            self._dropped += 1
            return None
        call = OpenCall()
        call.facts = facts
        call.tensors = tensors = list(tensors_in(args, kwargs))
        call.records = records = []
        call.before = before = []
        for tensor in tensors:
            record = self.identity.get(tensor) or self.identity.register(tensor)
            records.append(record)
            before.append(self._observe(tensor, record))
        call.index = self._begun  # a call without tensors counts only if it turns out to give one, see close()
        self._begun += bool(tensors)
        call.site = self.sites.note(frame, facts.code)
        call.parent = self._running[-1].index if self._running else None
        call.sequence = describe.sequence_number()
        call.uncounted = facts.uncounted(args, kwargs) if facts.uncounted is not None else []
        call.targets = list(tensors_in(facts.announced_writes(args, kwargs), {}))
        call.values = {
            id(tensor): value
            for tensor in call.targets
            if (value := describe.values(tensor, self._options.max_values)) is not None
        }
        if facts.runs_backward:
            self._backwards.append(self._backward(call, args, kwargs))
        self._running.append(call)
        return call

    def close(self, call: OpenCall, result: Any = None, error: BaseException | None = None) -> None:
        """Notes how a call ended. Every open call must be closed, in reverse order."""
        while self._running and self._running.pop() is not call:
            pass
        produced = list(tensors_in((result,), {}))
        if not call.tensors:
            if not produced:
                return
            call.index = self._begun
            self._begun += 1
        facts = call.facts
        done = ClosedCall()
        done.index = call.index
        done.facts = facts
        done.site = call.site
        done.parent = call.parent
        done.sequence = call.sequence
        done.grad_enabled = torch.is_grad_enabled()
        done.inputs = call.before
        done.error = None if error is None else f"{type(error).__name__}: {error}"
        written = self._writes(call, produced)
        done.outputs, fresh, shared = self._outputs(call, produced)
        done.mutations = []
        done.mutated = []
        for tensor, record, before in written:
            after = describe.version(tensor)
            value = describe.values(tensor, self._options.max_values) if id(tensor) in call.values else None
            done.mutations.append((record, before, after, call.values.get(id(tensor)), value))
            done.mutated.append(self._observe(tensor, record, call))
        if facts.metadata_only:
            done.kind = "metadata"
        elif written or (error is not None and call.targets):
            done.kind = "in-place"
        elif fresh:
            done.kind = "ordinary"
        elif shared:
            done.kind = "view"
        else:
            done.kind = "query"
        self._calls.append(done)

    def _writes(
        self, call: OpenCall, produced: list[torch.Tensor]
    ) -> list[tuple[torch.Tensor, TensorRecord, int | None]]:
        """The inputs whose version counter moved, each counter once, and those known to be written without moving one."""
        found: list[tuple[torch.Tensor, TensorRecord, int | None]] = []
        moved: dict[int, int] = {}
        for tensor, record, before in zip(call.tensors, call.records, call.before, strict=True):
            version = describe.version(tensor)
            if version == before.version:
                continue
            counter = record.counter
            place = moved.get(counter.serial)
            if place is None:
                moved[counter.serial] = len(found)
                found.append((tensor, record, before.version))
                counter.writes.append((call.sequence, before.version))
                counter.version = version
            elif any(tensor is out for out in produced):
                found[place] = (tensor, record, before.version)
        if call.facts.metadata_only and call.tensors:
            self.identity.rebase(call.tensors[0], call.records[0], call.index)
        uncounted = call.uncounted + [tensor for tensor in call.targets if describe.version(tensor) is None]
        for tensor in uncounted:
            record = self.identity.register(tensor)
            if record.counter.serial not in moved:
                found.append((tensor, record, describe.version(tensor)))
        return found

    def _outputs(self, call: OpenCall, produced: list[torch.Tensor]) -> tuple[list[TensorMetadata], bool, bool]:
        """Descriptions of the outputs; whether one has a storage of its own, and whether one shares an input's."""
        inputs = {id(tensor) for tensor in call.tensors}
        storages = {record.storage.serial: record for record in call.records if record.storage is not None}
        described: list[TensorMetadata] = []
        fresh = shared = False
        born = None if call.facts.reads_existing else call.index
        for tensor in produced:
            record = self.identity.get(tensor)
            if record is None:
                storage = self.identity.storage_of(tensor, born)
                donor = storages.get(storage.serial) if storage is not None else None
                record = self.identity.register(tensor, born=born, aliases=None if call.facts.aliases_data else donor)
            if id(tensor) in inputs or (record.storage is not None and record.storage.serial in storages):
                shared = True
            elif not call.facts.reads_existing:
                fresh = True
            described.append(self._observe(tensor, record, call))
        return described, fresh, shared

    def _observe(self, tensor: torch.Tensor, record: TensorRecord, call: OpenCall | None = None) -> TensorMetadata:
        """The tensor as it is now. Without `call` an unchanged version means an unchanged tensor."""
        version = describe.version(tensor)
        latest = record.latest
        if call is None and latest is not None and latest.version == version:
            return latest
        if version != record.counter.version:
            self._unseen.append(UnseenWrite(record.counter.serial, record.counter.version, version, self._begun))
            record.counter.writes.append((describe.sequence_number(), record.counter.version))
            record.counter.version = version
        grad_fn = describe.grad_fn(tensor)
        node = None
        if grad_fn is not None:
            node = self._nodes.number(grad_fn, call.index if call else None, call.sequence if call else None)
        record.latest = TensorMetadata(
            tensor=record.serial,
            version=version,
            storage=record.storage.serial if record.storage is not None else None,
            counter=record.counter.serial,
            node=node,
            python_id=id(tensor),
            cls=type(tensor).__name__,
            **describe.facts(tensor),
        )
        return record.latest

    def _backward(self, call: OpenCall, args: tuple[Any, ...], kwargs: Keywords) -> Backward:
        named = dict(zip(_BACKWARD_PARAMETERS[call.facts.name], args, strict=False)) | dict(kwargs)
        first = named.get("tensors", named.get("outputs", named.get("self", ())))
        roots = [self._observe(tensor, self.identity.register(tensor)).node for tensor in tensors_in((first,), {})]
        inputs = named.get("inputs")
        asked = None if inputs is None else [self.identity.register(t).serial for t in tensors_in((inputs,), {})]
        retain = named.get("retain_graph")
        return Backward(
            call=call.index,
            roots=tuple(root for root in roots if root is not None),
            inputs=None if asked is None else tuple(asked),
            retain_graph=bool(named.get("create_graph")) if retain is None else bool(retain),
        )

    def op(self, func: Any, args: tuple[Any, ...], kwargs: Keywords, result: Any) -> None:
        """Notes an aten operator that ran under the innermost open call."""
        facts = op_facts_of(func)
        restore_versions(facts, args, kwargs)
        if self._begun >= self._options.max_events:
            return
        call = self._running[-1].index if self._running else None
        accesses: list[Access] = []
        for position, value in enumerate(args):
            kind: AccessType = "WRITE" if position in facts.written_positions else "READ"
            accesses += [Access(self.identity.register(t).serial, kind) for t in tensors_in((value,), {})]
        for name, value in kwargs.items():
            kind = "WRITE" if name in facts.written_names else "READ"
            accesses += [Access(self.identity.register(t).serial, kind) for t in tensors_in((value,), {})]
        outputs = tuple(self.identity.register(t, born=call).serial for t in tensors_in((result,), {}))
        in_backward = bool(self._running) and self._running[-1].facts.runs_backward
        self._ops.append(OpEvent(facts.name, call, tuple(accesses), outputs, in_backward))

    def fault(self, doing: str, fault: Exception) -> None:
        """Notes a fault of our own, once per kind."""
        line = (
            f"inplace_magic failed while {doing} ({type(fault).__name__}: {fault}); the cell was not affected. Please "
            "report it."
        )
        if line not in self.faults:
            self.faults.append(line)

    def finish(self, sources: Sources, names: Iterable[TensorName], blindness: Iterable[str]) -> Trace:
        """Freezes what was recorded."""
        holding = self._nodes.close()
        sites = self.sites.resolve(sources)
        nodes, saved = self._nodes.frozen(holding)
        calls = [_frozen(done, sites) for done in sorted(self._calls, key=lambda done: done.index)]
        said = list(blindness)
        if self._dropped:
            said.append(
                f"The first {self._options.max_events:,} calls were recorded; {self._dropped:,} later ones ran unrecorded "
                f"(--max-events)."
            )
        return Trace(
            calls=tuple(calls),
            nodes=tuple(nodes),
            saved=saved,
            storages=tuple(record.frozen() for record in self.identity.storages),
            backwards=tuple(self._backwards),
            ops=tuple(self._ops),
            unseen=tuple(self._unseen),
            names=tuple(names),
            blindness=tuple(said),
            faults=tuple(self.faults),
            level=self._options.level,
            torch_version=torch.__version__,
        )


_MAX_DEPTH = 4
_BACKWARD_PARAMETERS = {
    "torch.autograd.backward": ("tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs"),
    "Tensor.backward": ("self", "gradient", "retain_graph", "create_graph", "inputs"),
    "torch.autograd.grad": ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph"),
}


def tensors_in(values: Iterable[Any], keywords: Keywords, depth: int = _MAX_DEPTH) -> Iterator[torch.Tensor]:
    """The tensors among arguments or results, also inside lists, tuples and dicts."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)) and depth:
            yield from tensors_in(value, {}, depth - 1)
        elif type(value) is dict and depth:
            yield from tensors_in(value.values(), {}, depth - 1)
    if keywords:
        yield from tensors_in(keywords.values(), {}, depth)


def _frozen(done: ClosedCall, sites: list[Callsite]) -> CallEvent:
    return CallEvent(
        index=done.index,
        name=done.facts.name,
        kind=done.kind,
        callsite=None if done.site is None else sites[done.site],
        inputs=tuple(done.inputs),
        outputs=tuple(done.outputs),
        mutations=tuple(
            Mutation(
                tensor=record.serial,
                version_before=before,
                version_after=after,
                storage=record.storage.serial if record.storage is not None else None,
                counter=record.counter.serial,
                values_before=describe.flat(old),
                values_after=describe.flat(new),
            )
            for record, before, after, old, new in done.mutations
        ),
        error=done.error,
        parent=done.parent,
        grad_enabled=done.grad_enabled,
        mutated=tuple(done.mutated),
        sequence=done.sequence,
    )
