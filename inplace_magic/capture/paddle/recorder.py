"""Opens and closes a call of Paddle's, gathers what it did, appends to the record.

During a call the recorder holds what the call itself holds; afterwards only numbers. Whatever can wait until the watch
ends (source lines, text, frozen records) is left to :mod:`.freeze`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

import paddle

from inplace_magic.capture.beside import Beside
from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.naming.passing_names import PassingNames
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.backwards import Backwards
from inplace_magic.capture.paddle.calls import Call, RawUnseenWrite
from inplace_magic.capture.paddle.describe import STRIDES
from inplace_magic.capture.paddle.dropped import READERS
from inplace_magic.capture.paddle.frames import PADDLE_FRAMES
from inplace_magic.capture.paddle.functions import OpFacts
from inplace_magic.capture.paddle.gradients import Gradients
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
from inplace_magic.capture.paddle.keeping import note_saves
from inplace_magic.capture.paddle.memory import Memory
from inplace_magic.capture.paddle.nodes import NodeMap
from inplace_magic.capture.paddle.reach import KINDS
from inplace_magic.capture.paddle.traits import LEAF_SINK
from inplace_magic.capture.paddle.written import Written, mutation, writes
from inplace_magic.record.options import WatchOptions

_records_gradients: Callable[[], bool] = getattr(paddle.base.core, "_has_grad", paddle.is_grad_enabled)
_NONE: tuple[Any, ...] = ()


class Recorder:
    """Collects one watch."""

    def __init__(self, options: WatchOptions) -> None:
        self._options = options
        self.sites = CallsiteTable(PADDLE_FRAMES)
        self.identity = IdentityMap(self.clock)
        self.nodes = NodeMap(options.check_values)
        self.gradients = Gradients(self.identity, self._look)
        self.backwards = Backwards(self.identity, self.nodes, self.gradients, self._look)
        self.memory = Memory()
        self.beside = Beside()
        self.begun = 0
        self.calls: list[Call] = []
        self.forgotten = 0
        self.unseen: list[RawUnseenWrite] = []
        self.unknown_saves: dict[str, None] = {}
        """Names of operations that made a node, and of which the table of saves knows nothing."""
        self.faults: list[str] = []
        self.running: list[Call] = []
        self.kept: list[list[Any]] = []
        """What each running ``PyLayer.apply`` has kept by ``save_for_backward``."""
        self.passing_names = PassingNames(self.identity, self.sites.is_users, KINDS)
        self._clearing: tuple[int, int, int] | None = None
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
        self.memory.read(None)

    def end_block(self) -> None:
        """The cell has ended."""
        self.memory.read(None)
        self.beside.end()
        self.identity.bury()

    def open(self, facts: OpFacts, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Call:
        """Notes a call that is about to run."""
        identity = self.identity
        if identity.deaths:
            identity.bury()
        if len(self.calls) >= self._options.max_events:
            self._forget()
        self._clearing = None
        call = Call()
        call.facts = facts
        call.arguments = args
        call.tensors = tensors = describe.tensors_in(args, [])
        if kwargs:
            describe.tensors_in(kwargs.values(), tensors)
        call.site = self._note_site(frame)
        look = self._look_in_step if facts.steps else self._look
        call.before = [look(tensor) for tensor in tensors]
        call.index = self.begun  # a call without tensors counts only if it turns out to give one, see close()
        if tensors:
            self.begun += 1
        call.parent = self.running[-1].index if self.running else None
        call.sequence = self.nodes.sequence
        call.grad_enabled = _records_gradients()
        call.old = call.dropped = None
        call.targets = call.unmoved = _NONE
        if facts.predicts_write:
            if tensors:
                call.targets = tensors[:1] if facts.operation != "assign_out_" else describe.tensors_in(args[1:2], [])
                seen = call.before[0]
                call.old = describe.content(seen[LAYOUT], seen[POINTER], self._value_bytes)
            reader = READERS.get(facts.operation)
            if reader is not None:
                call.dropped = reader(args)
        elif facts.statistics:
            if len(args) > 5 and args[5] is False:
                call.unmoved = describe.tensors_in([args[position] for position in facts.statistics], [])
        elif kwargs and kwargs.get("out") is not None:
            call.targets = call.unmoved = describe.tensors_in((kwargs["out"],), [])
        if facts.runs_backward:
            self.nodes.compare_values(call.index)
            self.backwards.begin(call, args)
        self.running.append(call)
        self.memory.read(call.index)
        return call

    def close(self, call: Call, result: Any = None, error: BaseException | None = None) -> None:
        """Notes how a call ended; :meth:`drop` must follow."""
        identity = self.identity
        if identity.deaths:
            identity.bury()
        facts = call.facts
        produced = [] if result is None else describe.tensors_in((result,), [])
        if facts.operation == "batch_norm":
            del produced[1:]  # its statistics once more, and what only backward needs
        if not call.tensors:
            if not produced:
                return
            call.index = self.begun
            self.begun += 1
        call.error = None if error is None else describe.error_text(error)
        written = writes(call, produced, identity)
        call.outputs, fresh, shared = self._outputs(call, produced, written)
        call.mutations = [
            mutation(call, tensor, before, self._after(call, tensor, before), self._value_bytes)
            for tensor, before in written
        ]
        if facts.runs_backward:
            self.backwards.end(call, error)
        elif error is None and call.grad_enabled:
            by_ctx = self.kept[-1] if self.kept and facts.operation == "apply" else ()
            if not note_saves(call, self.nodes, identity, self._look, by_ctx):
                self.unknown_saves[facts.name] = None
        if facts.metadata_only:
            if call.tensors:
                self._observe(call.tensors[0], call)
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
        if call.parent is not None:
            self.memory.read(call.parent)

    def drop(self, call: Call) -> None:
        """Lets go of a call that is over, of its tensors, and of any call above it that never ended."""
        running = self.running
        while running:
            last = running.pop()
            last.tensors = last.targets = last.unmoved = last.arguments = _NONE
            if last is call:
                break

    def met(self, gradient: Any) -> None:
        """Notes the object that stands for a gradient from now on, so that its memory is known by that name."""
        if self.identity.deaths:
            self.identity.bury()
        if gradient._is_initialized():
            self._look(gradient)

    def cleared(self, facts: OpFacts, leaf: Any, frame: FrameType, *, zeroed: bool) -> None:
        """Notes that the gradient of a leaf was cleared. A loop over parameters, as an optimizer's, is one call.

        Args:
            facts: those of the method.
            leaf: whose gradient.
            frame: the frame that called it.
            zeroed: whether the memory was filled with zeros, and not let go.
        """
        if self.identity.deaths:
            self.identity.bury()
        write = self.gradients.cleared(leaf, zeroed=zeroed)
        if write is None:
            return
        place = id(frame), frame.f_lasti, self.begun
        if self._clearing == place and self.calls:
            self.calls[-1].mutations.append(write)
            return
        call = Call()
        call.facts, call.index, call.kind, call.error = facts, self.begun, "in-place", None
        self.begun += 1
        call.site = self._note_site(frame)
        call.before, call.outputs, call.mutations = [], [], [write]
        call.parent = self.running[-1].index if self.running else None
        call.sequence, call.grad_enabled = self.nodes.sequence, _records_gradients()
        self.calls.append(call)
        self._clearing = id(frame), frame.f_lasti, self.begun

    def fault(self, doing: str, fault: Exception) -> None:
        """Notes a fault of our own, once per kind."""
        line = (
            f"inplace_magic failed while {doing} ({type(fault).__name__}: {fault}); the cell was not affected. Please "
            "report it."
        )
        if line not in self.faults:
            self.faults.append(line)

    def look_once_more(self) -> None:
        """Notes, between calls, what died and what was written unseen since the last call."""
        self.identity.bury()
        self._site = None
        self.nodes.compare_values(self.begun)
        self.gradients.settle()

    def _forget(self) -> None:
        half = self._options.max_events // 2
        self.forgotten += len(self.calls) - half
        del self.calls[:-half]
        self.memory.forget(self.calls[0].index)

    def _note_site(self, frame: FrameType) -> int | None:
        site = self.sites.note(frame)
        if site is not None and site >= self._places_met:
            self._places_met = site + 1
            self.passing_names.look(frame)
        self._site = site
        return site

    def _look(self, tensor: Any) -> Observation:
        """A tensor before the call that got it; an unchanged version and address mean an unchanged tensor."""
        identity = self.identity
        record = identity.tensors.get(id(tensor))
        latest = None if record is None or record() is not tensor else record.latest
        if latest is not None and latest[REQUIRES_GRAD] is not tensor.stop_gradient:
            version = tensor._inplace_version()
            storage = latest[STORAGE]
            if storage is None:
                if version == latest[VERSION] and describe.pointer(tensor) == latest[POINTER]:
                    return latest
            elif version == latest[VERSION] == storage.version and tensor.data_ptr() == latest[POINTER]:
                storage.seen_at = self._site
                return latest
        return self._observe(tensor, None)

    def _look_in_step(self, tensor: Any) -> Observation:
        """As :meth:`_look`, of what an optimizer hands to its operation: a gradient that is known by its leaf is the
        same each time, though Paddle makes another object for it at each read."""
        if id(tensor) not in self.identity.tensors:
            seen = self.gradients.at(tensor)
            if seen is not None:
                return seen
        return self._look(tensor)

    def _observe(self, tensor: Any, call: Call | None, *, made: bool = False) -> Observation:
        """The tensor as it is now.

        Args:
            tensor: the live tensor.
            call: the call that just returned; None for an input, before the call.
            made: the call gave the tensor, or wrote it, so that its node is the call's.
        """
        identity = self.identity
        first = describe.pointer(tensor)
        version = describe.version(tensor)
        record = identity.known(tensor)
        latest = None if record is None else record.latest
        if latest is not None and call is not None and call.facts.keeps_layout and latest[POINTER] == first:
            seen = latest[LAYOUT]
            if seen[STRIDES] != tuple(tensor.strides):
                seen = describe.layout(tensor)
        else:
            seen = describe.layout(tensor)
        storage = identity.storage_of(tensor, first, seen, call.index if made and call is not None else None)
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
            if grad_fn is not None:
                name = grad_fn.name()
                if name == LEAF_SINK:
                    self.nodes.leaf(grad_fn, record)
                else:
                    leaf = False
                    node = self._number(grad_fn, name, call if made else None)
        record.latest = (record, storage, version, seen, first, requires_grad, node, leaf)
        return record.latest

    def _number(self, grad_fn: Any, name: str, call: Call | None) -> int:
        if call is None:
            return self.nodes.met(grad_fn, name).serial
        for seen in call.before:  # an input's node lives: the call handed it on, or wrote without being recorded
            if seen[NODE] is not None and self.nodes.is_at(self.nodes.records[seen[NODE] - 1], grad_fn):
                return seen[NODE]
        return self.nodes.made(grad_fn, name, call.index).serial

    def _note_unseen(self, storage: StorageRecord, record: TensorRecord, version: int | None) -> None:
        others = self.beside.others()
        self.unseen.append(
            RawUnseenWrite(
                *(storage, record, storage.version, version, self.begun, storage.seen_at, self._site, others)
            )
        )

    def _outputs(self, call: Call, produced: list[Any], written: Written) -> tuple[list[Observation], bool, bool]:
        """The outputs; whether one has memory of its own, and whether one shares an input's."""
        found: list[Observation] = []
        fresh = shared = False
        inputs = {id(tensor) for tensor in call.tensors}
        storages = {seen[STORAGE].serial for seen in call.before if seen[STORAGE] is not None}
        for tensor in produced:
            given = id(tensor) in inputs
            if given and not any(tensor is entry[0] and describe.version(tensor) != entry[1] for entry in written):
                shared = True  # it is what it was, but for its values
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

    def _after(self, call: Call, tensor: Any, before: int | None) -> Observation:
        """A written tensor as it is now; one whose version stayed is what it was, but for its values."""
        for seen in call.outputs:
            if seen[RECORD]() is tensor:
                return seen
        if describe.version(tensor) == before:
            return self._look(tensor)
        return self._observe(tensor, call, made=True)
