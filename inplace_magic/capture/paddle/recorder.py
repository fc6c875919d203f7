"""Opens and closes a call of Paddle's, gathers what it did, appends to the record.

During a call the recorder holds what the call itself holds; afterwards only numbers. Whatever can wait until the watch
ends (source lines, text, frozen records) is left to :mod:`.freeze`.
"""

from __future__ import annotations

from types import FrameType
from typing import Any, NamedTuple

import paddle

from inplace_magic.capture.beside import Beside
from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.naming.passing_names import PassingNames
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.describe import DTYPE
from inplace_magic.capture.paddle.frames import PADDLE_FRAMES
from inplace_magic.capture.paddle.functions import OpFacts
from inplace_magic.capture.paddle.identity import (
    LAYOUT,
    NODE,
    POINTER,
    RECORD,
    REQUIRES_GRAD,
    STORAGE,
    VERSION,
    IdentityMap,
    Observation,
    StorageRecord,
    TensorRecord,
)
from inplace_magic.capture.paddle.nodes import NodeMap, NodeRecord
from inplace_magic.capture.paddle.reach import KINDS
from inplace_magic.capture.paddle.saves import SAVES, kept_in
from inplace_magic.capture.paddle.traits import LEAF_SINK, operation_of
from inplace_magic.capture.regions import basic_index_region
from inplace_magic.record.autograd import Backward
from inplace_magic.record.events import Kind, Region
from inplace_magic.record.options import WatchOptions

_records_gradients = paddle.is_grad_enabled


class RawUnseenWrite(NamedTuple):
    """A version that moved between two looks at it."""

    storage: StorageRecord
    record: TensorRecord
    before: int | None
    after: int | None
    noticed: int
    after_site: int | None
    before_site: int | None
    beside: bool


class RawMutation(NamedTuple):
    """A write, with the tensor as it was afterwards."""

    after: Observation
    before: int | None
    old: bytes | None
    new: bytes | None
    region: Region | None


class Call:
    """One call; `tensors`, `targets` and `arguments` only while it runs."""

    __slots__ = (
        "arguments",
        "before",
        "error",
        "facts",
        "grad_enabled",
        "index",
        "kind",
        "mutations",
        "old",
        "outputs",
        "parent",
        "sequence",
        "site",
        "targets",
        "tensors",
        "unmoved",
    )
    arguments: tuple[Any, ...]
    before: list[Observation]
    error: str | None
    facts: OpFacts
    grad_enabled: bool
    index: int
    kind: Kind
    mutations: list[RawMutation]
    old: list[bytes | None]
    outputs: list[Observation]
    parent: int | None
    sequence: int
    site: int | None
    targets: list[Any]
    tensors: list[Any]
    unmoved: list[Any]


class Recorder:
    """Collects one watch."""

    def __init__(self, options: WatchOptions) -> None:
        self._options = options
        self.sites = CallsiteTable(PADDLE_FRAMES)
        self.identity = IdentityMap(self.clock)
        self.nodes = NodeMap(options.check_values)
        self.beside = Beside()
        self.begun = 0
        self.calls: list[Call] = []
        self.forgotten = 0
        self.backwards: list[Backward] = []
        self.unseen: list[RawUnseenWrite] = []
        self.unknown_saves: dict[str, None] = {}
        """Names of operations that made a node, and of which the table of saves knows nothing."""
        self.released: set[int] = set()
        """Nodes that a backward has been through without ``retain_graph``."""
        self.faults: list[str] = []
        self.running: list[Call] = []
        self.kept: list[list[Any]] = []
        """What each running ``PyLayer.apply`` has kept by ``save_for_backward``."""
        self.passing_names = PassingNames(self.identity, self.sites.is_users, KINDS)
        self._places_met = 0
        self._site: int | None = None
        self._value_bytes = 8 * options.max_values

    def clock(self) -> int:
        """How many calls have begun."""
        return self.begun

    def begin_block(self) -> None:
        """The next call is the first of a cell."""
        self._site = None
        self.beside.begin()

    def end_block(self) -> None:
        """The cell has ended."""
        self.beside.end()
        self.identity.bury()

    def open(self, facts: OpFacts, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Call:
        """Notes a call that is about to run."""
        identity = self.identity
        if identity.deaths:
            identity.bury()
        if len(self.calls) >= self._options.max_events:
            self._forget()
        call = Call()
        call.facts = facts
        call.arguments = args
        call.tensors = tensors = describe.tensors_in(args, [])
        if kwargs:
            describe.tensors_in(kwargs.values(), tensors)
        site = self.sites.note(frame)
        if site is not None and site >= self._places_met:
            self._places_met = site + 1
            self.passing_names.look(frame)
        self._site = call.site = site
        look = self._look
        call.before = [look(tensor) for tensor in tensors]
        call.index = self.begun  # a call without tensors counts only if it turns out to give one, see close()
        if tensors:
            self.begun += 1
        call.parent = self.running[-1].index if self.running else None
        call.sequence = self.nodes.sequence
        call.grad_enabled = _records_gradients()
        call.targets, call.old, call.unmoved = [], [], []
        if facts.predicts_write and tensors:
            call.targets = tensors[:1] if facts.operation != "assign_out_" else describe.tensors_in(args[1:2], [])
            call.old = [describe.content(seen[LAYOUT], seen[POINTER], self._value_bytes) for seen in call.before[:1]]
        elif facts.statistics and len(args) > 5 and args[5] is False:
            call.unmoved = describe.tensors_in([args[position] for position in facts.statistics], [])
        if facts.runs_backward:
            self.nodes.compare_values(call.index)
            self._note_backward(call, args)
        self.running.append(call)
        return call

    def close(self, call: Call, result: Any = None, error: BaseException | None = None) -> None:
        """Notes how a call ended; :meth:`drop` must follow."""
        identity = self.identity
        if identity.deaths:
            identity.bury()
        produced = [] if result is None else describe.tensors_in((result,), [])
        if call.facts.operation == "batch_norm":
            del produced[1:]  # its statistics once more, and what only backward needs
        if not call.tensors:
            if not produced:
                return
            call.index = self.begun
            self.begun += 1
        call.error = None if error is None else describe.error_text(error)
        written = self._writes(call, produced)
        call.outputs, fresh, shared = self._outputs(call, produced, written)
        call.mutations = [self._mutation(call, *entry) for entry in written]
        if error is None and not call.facts.runs_backward:
            self._note_saves(call)
        elif call.facts.runs_backward:
            self._release(call, error)
        facts = call.facts
        if facts.metadata_only and call.tensors:
            self._observe(call.tensors[0], call)
        if facts.metadata_only:
            call.kind = "metadata"
        elif written or (error is not None and call.targets):
            call.kind = "in-place"
        elif fresh:
            call.kind = "ordinary"
        elif shared:
            call.kind = "view"
        else:
            call.kind = "query"
        self.calls.append(call)

    def drop(self, call: Call) -> None:
        """Lets go of a call that is over, of its tensors, and of any call above it that never ended."""
        running = self.running
        while running:
            last = running.pop()
            last.tensors = last.targets = last.unmoved = []
            last.arguments = ()
            if last is call:
                break

    def fault(self, doing: str, fault: Exception) -> None:
        """Notes a fault of our own, once per kind."""
        line = (
            f"inplace_magic failed while {doing} ({type(fault).__name__}: {fault}); the cell was not affected. Please "
            "report it."
        )
        if line not in self.faults:
            self.faults.append(line)

    def _forget(self) -> None:
        half = self._options.max_events // 2
        self.forgotten += len(self.calls) - half
        del self.calls[:-half]

    def _look(self, tensor: Any) -> Observation:
        """A tensor before the call that got it; an unchanged version and address mean an unchanged tensor."""
        identity = self.identity
        record = identity.tensors.get(id(tensor))
        if record is not None and record() is tensor and tensor is not None:
            latest = record.latest
            if latest is not None and latest[VERSION] == tensor._inplace_version():
                storage = latest[STORAGE]
                same = storage is None or storage.version == latest[VERSION]
                if same and latest[POINTER] == describe.pointer(tensor):
                    if storage is not None:
                        storage.seen_at = self._site
                    if latest[REQUIRES_GRAD] is not tensor.stop_gradient:
                        return latest
        return self._observe(tensor, None)

    def _observe(self, tensor: Any, call: Call | None, *, made: bool = False) -> Observation:
        """The tensor as it is now.

        Args:
            tensor: the live tensor.
            call: the call that just returned; None for an input, before the call.
            made: the call gave the tensor, or wrote it, so that its node is the call's.
        """
        identity = self.identity
        seen = describe.layout(tensor)
        first = describe.pointer(tensor)
        version = describe.version(tensor)
        storage = identity.storage_of(tensor, first, seen, call.index if made and call is not None else None)
        record = identity.known(tensor)
        if record is None:
            record = identity.enter(tensor, storage)
        elif record.storage is not storage:
            identity.move(record, storage)
            if storage is not None:
                storage.version = version
        if storage is not None:
            if storage.version is None:
                storage.version = version
            elif storage.version != version:
                if call is None:
                    self._note_unseen(storage, record, version)
                storage.version = version
            storage.seen_at = self._site
        requires_grad = not tensor.stop_gradient
        node = None
        leaf = True
        if requires_grad:
            grad_fn = tensor.grad_fn
            if grad_fn is not None and grad_fn.name() == LEAF_SINK:
                self.nodes.leaf(grad_fn, record)
            elif grad_fn is not None:
                leaf = False
                node = self._number(grad_fn, call if made else None)
        record.latest = (record, storage, version, seen, first, requires_grad, node, leaf)
        return record.latest

    def _number(self, grad_fn: Any, call: Call | None) -> int:
        if call is None:
            return self.nodes.met(grad_fn).serial
        for seen in call.before:  # an input's node lives: the call handed it on, or wrote without being recorded
            if seen[NODE] is not None and self.nodes.is_at(self.nodes.records[seen[NODE] - 1], grad_fn):
                return seen[NODE]
        return self.nodes.made(grad_fn, call.index).serial

    def _note_unseen(self, storage: StorageRecord, record: TensorRecord, version: int | None) -> None:
        others = self.beside.others()
        self.unseen.append(
            RawUnseenWrite(
                *(storage, record, storage.version, version, self.begun, storage.seen_at, self._site, others)
            )
        )

    def _writes(self, call: Call, produced: list[Any]) -> list[tuple[Any, int | None]]:
        """The inputs that the call wrote, each memory once: those whose version moved, and those that it handed back
        as an operation that writes, or that are known to be written, without moving it."""
        found: list[tuple[Any, int | None]] = []
        if call.facts.runs_python:
            return found  # what is written inside is written by calls of its own
        done: set[int] = set()
        for tensor, seen in zip(call.tensors, call.before, strict=True):
            storage = seen[STORAGE]
            version = describe.version(tensor)
            if version == seen[VERSION] or (storage is not None and storage.serial in done):
                continue
            if storage is not None:
                done.add(storage.serial)
                storage.version = version
                tensor = self._announced(call, storage, tensor)
            found.append((tensor, seen[VERSION]))
        unmoved = call.unmoved
        if call.facts.predicts_write and call.error is None:
            unmoved = [tensor for tensor in call.tensors if any(tensor is given for given in produced)] or call.targets
        for tensor in unmoved:
            record = self.identity.known(tensor)
            storage = None if record is None else record.storage
            if storage is not None and storage.serial not in done:
                done.add(storage.serial)
                found.append((tensor, describe.version(tensor)))
        return found

    def _announced(self, call: Call, storage: StorageRecord, tensor: Any) -> Any:
        """Of several tensors on one memory, the one that the call announced to write."""
        for target in call.targets:
            record = self.identity.known(target)
            if record is not None and record.storage is storage:
                return target
        return tensor

    def _outputs(
        self, call: Call, produced: list[Any], written: list[tuple[Any, int | None]]
    ) -> tuple[list[Observation], bool, bool]:
        """The outputs; whether one has memory of its own, and whether one shares an input's."""
        found: list[Observation] = []
        fresh = shared = False
        inputs = {id(tensor) for tensor in call.tensors}
        storages = {seen[STORAGE].serial for seen in call.before if seen[STORAGE] is not None}
        for tensor in produced:
            given = id(tensor) in inputs
            if given and not any(tensor is entry[0] for entry in written):
                shared = True
                found.append(self._look(tensor))
                continue
            seen = self._observe(tensor, call, made=True)
            found.append(seen)
            storage = seen[STORAGE]
            if given or (storage is not None and storage.serial in storages):
                shared = True
            else:
                fresh = True
        return found, fresh, shared

    def _mutation(self, call: Call, tensor: Any, before: int | None) -> RawMutation:
        after = next((seen for seen in call.outputs if seen[RECORD]() is tensor), None)
        if after is None:
            after = self._observe(tensor, call, made=True)
        old = call.old[0] if call.old and call.targets and tensor is call.targets[0] else None
        if old is not None and call.before[0][LAYOUT][DTYPE] != after[LAYOUT][DTYPE]:
            old = None  # `cast_` gives the tensor numbers of another kind
        new = None if old is None else describe.content(after[LAYOUT], after[POINTER], self._value_bytes)
        region = None
        if call.facts.sets_item and len(call.arguments) > 1:
            shape, strides, offset, *_ = call.before[0][LAYOUT]
            if strides is not None and offset is not None:
                region = basic_index_region(shape, strides, offset, call.arguments[1])
        return RawMutation(after, before, old, new, region)

    def _note_saves(self, call: Call) -> None:
        """Reads from the table what the new nodes of a call keep."""
        node = self._new_node(call)
        if node is None or node.saved:
            return
        if call.facts.operation == "apply":
            for index, tensor in enumerate(self.kept[-1] if self.kept else ()):
                self.nodes.keep(node, f"saved[{index}]", self._look(tensor), guarded=False)
            return
        slots = kept_in(call.facts.saves, call.arguments)
        if slots is None:
            self.unknown_saves[call.facts.name] = None
            return
        for slot in slots:
            for tensor in self._in_slot(call, slot):
                seen = self._look(tensor)
                self.nodes.keep(node, slot, seen)

    def _new_node(self, call: Call) -> NodeRecord | None:
        """The node that a call made and that keeps something; of several, as ``linear`` makes them, the one whose own
        operation does."""
        for seen in (*call.outputs, *(mutation.after for mutation in call.mutations)):
            number = seen[NODE]
            if number is None or self.nodes.records[number - 1].call != call.index:
                continue
            first = self.nodes.records[number - 1]
            behind = [node for node in self.nodes.records[number - 1 :] if node.call == call.index]
            return next((node for node in behind if SAVES.get(operation_of(node.name))), first)
        return None

    def _in_slot(self, call: Call, slot: str) -> list[Any]:
        if slot.startswith("in"):
            position = int(slot[2:])
            return describe.tensors_in(call.arguments[position : position + 1], [])
        if slot.startswith("out"):
            position = int(slot[3:])
            found = [seen[RECORD]() for seen in call.outputs[position : position + 1]]
            return [tensor for tensor in found if tensor is not None]
        return []

    def _note_backward(self, call: Call, args: tuple[Any, ...]) -> None:
        roots = describe.tensors_in(args[:1], [])
        partial = call.facts.operation == "grad"
        asked = describe.tensors_in(args[1:2], []) if partial else None
        retain = args[3] if partial and len(args) > 3 else args[2] if len(args) > 2 else False
        latest = [self._look(tensor) for tensor in roots]
        self.backwards.append(
            Backward(
                call=call.index,
                roots=tuple(seen[NODE] for seen in latest if seen[NODE] is not None),
                inputs=None if asked is None else tuple(self._look(tensor)[RECORD].serial for tensor in asked),
                retain_graph=bool(retain),
            )
        )

    def _release(self, call: Call, error: BaseException | None) -> None:
        for backward in reversed(self.backwards):
            if backward.call == call.index:
                if error is not None or not backward.retain_graph:
                    self.released |= self.nodes.reached(backward.roots)
                return

    def look_once_more(self) -> None:
        """Notes, between calls, what died and what was written unseen since the last call."""
        self.identity.bury()
        self._site = None
        self.nodes.compare_values(self.begun)
