"""Opens and closes a call of Paddle's, gathers what it did, appends to the record.

During a call the recorder holds what the call itself holds; afterwards only numbers. Whatever can wait until the watch
ends (source lines, text, frozen records) is left to :mod:`.freeze`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import FrameType
from typing import Any

import paddle

from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.log import Log
from inplace_magic.capture.naming.holdings import Holdings
from inplace_magic.capture.naming.passing_names import PassingNames
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.functions import Call, OpFacts, in_positions
from inplace_magic.capture.paddle.gradients import Gradients
from inplace_magic.capture.paddle.identity import IdentityMap, Observation
from inplace_magic.capture.paddle.looking import Looks
from inplace_magic.capture.paddle.memory import Memory
from inplace_magic.capture.paddle.nodes import NodeMap, note_saves
from inplace_magic.capture.paddle.reach import KINDS, PADDLE_FRAMES
from inplace_magic.capture.paddle.written import READERS, Written, mutation, writes
from inplace_magic.errors import error_text
from inplace_magic.record.events import Kind
from inplace_magic.record.options import WatchOptions

_records_gradients: Callable[[], bool] = getattr(paddle.base.core, "_has_grad", paddle.is_grad_enabled)
_NONE: tuple[Any, ...] = ()
_STORAGE_OF = attrgetter("storage")


class Recorder:
    """Collects one watch."""

    def __init__(self, options: WatchOptions) -> None:
        self._options = options
        self.sites = CallsiteTable(PADDLE_FRAMES)
        self.log = Log()
        self.identity = IdentityMap(self.clock)
        self.nodes = NodeMap(options.check_values)
        self.looks = Looks(self.identity, self.nodes, self.log)
        self.gradients = Gradients(self.identity, self.nodes, self.log, self.looks.look)
        self.looks.gradient_at = self.gradients.at
        self.memory = Memory()
        self.unknown_saves: dict[str, None] = {}
        """Names of operations that made a node, and of which the table of saves knows nothing."""
        self.running: list[Call] = []
        self.kept: list[list[Any]] = []
        """What each running ``PyLayer.apply`` has kept by ``save_for_backward``."""
        self.passing_names = PassingNames(self.identity, self.sites.is_users, KINDS)
        self.holdings = Holdings(self.sites.is_users, self.identity.known, KINDS, lambda _tensor: None, wrappers=6)
        self._clearing: tuple[int, int, int] | None = None
        self._places_met = 0
        self._value_bytes = 8 * options.max_values

    def clock(self) -> int:
        """How many calls have begun."""
        return self.log.begun

    def begin_block(self) -> None:
        """The next call is the first of a cell."""
        self.looks.site = None
        self.log.beside.begin()
        self.memory.read(None)

    def end_block(self) -> None:
        """The cell has ended."""
        self.memory.read(None)
        self.log.beside.end()
        self.identity.bury()

    def open(self, facts: OpFacts, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Call:
        """Notes a call that is about to run."""
        identity = self.identity
        if identity.deaths:
            identity.bury()
        log = self.log
        if len(log.calls) >= self._options.max_events:
            self._forget()
        self._clearing = None
        call = Call()
        call.facts = facts
        call.arguments = in_positions(facts, args, kwargs) if kwargs else args
        call.tensors = tensors = describe.tensors_in(args, [])
        if kwargs:
            describe.tensors_in(kwargs.values(), tensors)
        call.site = self._note_site(frame)
        look = self.looks.look_in_step if facts.steps else self.looks.look
        call.before = [look(tensor) for tensor in tensors]
        call.index = log.begun  # a call without tensors counts only if it turns out to give one, see close()
        if tensors:
            log.begun += 1
        call.parent = self.running[-1].index if self.running else None
        call.sequence = self.nodes.sequence
        call.grad_enabled = _records_gradients()
        call.old = None
        call.targets = call.unmoved = _NONE
        if facts.predicts_write:
            if tensors:
                call.targets = tensors[:1] if facts.operation != "assign_out_" else describe.tensors_in(args[1:2], [])
                seen = call.before[0]
                call.old = describe.content(seen.layout, seen.pointer, self._value_bytes)
            reader = READERS.get(facts.operation)
            dropped = None if reader is None else reader(args)
            if dropped is not None:
                log.dropped[call.index] = dropped
        elif facts.statistics:
            if len(args) > 5 and args[5] is False:
                call.unmoved = describe.tensors_in([args[position] for position in facts.statistics], [])
        elif kwargs and kwargs.get("out") is not None:
            call.targets = call.unmoved = describe.tensors_in((kwargs["out"],), [])
        if call.targets:
            self.holdings.note(frame, call.index, call.site, call.targets, writes=True)
        elif self.holdings.held and not self.holdings.held.isdisjoint(seen.record.serial for seen in call.before):
            self.holdings.note(frame, call.index, call.site, tensors, writes=False)
        if facts.runs_backward:
            self.nodes.compare_values(call.index)
            self.gradients.begin(call, args)
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
            call.index = self.log.begun
            self.log.begun += 1
        written = writes(call, produced, identity, raised=error is not None)
        call.outputs, fresh, shared = self._outputs(call, produced, written)
        call.mutations = []
        for tensor, before in written:
            after = self._after(call, tensor, before)
            call.mutations += mutation(call, tensor, before, after, self._value_bytes)
        if facts.runs_backward:
            self.gradients.end(call, error)
        elif error is None and call.grad_enabled:
            by_ctx = self.kept[-1] if self.kept and facts.operation == "apply" else ()
            if not note_saves(call, self.nodes, identity, self.looks.look, by_ctx):
                self.unknown_saves[facts.name] = None
        kind: Kind
        if facts.metadata_only:
            if call.tensors:
                self.looks.observe(call.tensors[0], call)
            kind = "metadata"
        elif written or (error is not None and call.targets):
            kind = "in-place"
        elif fresh:
            kind = "ordinary"
        elif shared:
            kind = "view"
        else:
            kind = "query"
        text = None if error is None else error_text(error)
        counts = len(call.before), len(call.outputs)
        self.log.calls.append(
            (
                *(call.index, facts, kind, call.site, text, call.parent, call.grad_enabled, call.sequence, *counts),
                *(*call.before, *call.outputs, *call.mutations),
            )
        )
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
            self.looks.look(gradient)

    def cleared(self, facts: OpFacts, leaf: Any, frame: FrameType, zeroed: bool, /) -> None:
        """Notes that the gradient of a leaf was cleared. A loop over parameters, as an optimizer's, is one call.

        Args:
            zeroed: whether the memory was filled with zeros, and not let go.
        """
        if self.identity.deaths:
            self.identity.bury()
        seen = self.gradients.cleared(leaf, zeroed=zeroed)
        if seen is None:
            return
        log, write = self.log, (seen, seen.version, None, None, None)
        place = id(frame), frame.f_lasti, log.begun
        if self._clearing == place and log.calls:
            log.calls[-1] += write
            return
        parent, index = self.running[-1].index if self.running else None, log.begun
        log.begun += 1
        site = self._note_site(frame)
        grad = _records_gradients(), self.nodes.sequence
        log.calls.append((index, facts, "in-place", site, None, parent, *grad, 0, 0, *write))
        self._clearing = id(frame), frame.f_lasti, log.begun

    def look_once_more(self) -> None:
        """Notes, between calls, what died and what was written unseen since the last call."""
        self.identity.bury()
        self.looks.site = None
        self.nodes.compare_values(self.log.begun)
        self.gradients.settle()

    def _forget(self) -> None:
        log, half = self.log, self._options.max_events // 2
        log.forgotten += len(log.calls) - half
        del log.calls[:-half]
        self.memory.forget(log.calls[0][0])

    def _note_site(self, frame: FrameType) -> int | None:
        site = self.sites.note(frame)
        if site is not None and site >= self._places_met:
            self._places_met = site + 1
            self.passing_names.look(frame, self.log.begun, site)
        self.looks.site = site
        return site

    def _outputs(self, call: Call, produced: list[Any], written: Written) -> tuple[list[Observation], bool, bool]:
        """Return the outputs; whether one has memory of its own, and whether one shares an input's."""
        found: list[Observation] = []
        fresh = shared = False
        inputs, moved = set(map(id, call.tensors)), {id(tensor): before for tensor, before in written}
        storages = set(map(_STORAGE_OF, call.before))
        for tensor in produced:
            given = id(tensor) in inputs
            if given and (id(tensor) not in moved or describe.version(tensor) == moved[id(tensor)]):
                shared = True  # it is what it was, but for its values
                found.append(self.looks.look(tensor))
                continue
            seen = self.looks.observe(tensor, call, made=True)
            found.append(seen)
            storage = seen.storage
            if given or (storage is not None and storage in storages):
                shared = True
            else:
                fresh = True
        return found, fresh, shared

    def _after(self, call: Call, tensor: Any, before: int | None) -> Observation:
        """Return a written tensor as it is now; one whose version stayed is what it was, but for its values."""
        for seen in call.outputs:
            if seen.record() is tensor:
                return seen
        if describe.version(tensor) == before:
            return self.looks.look(tensor)
        return self.looks.observe(tensor, call, made=True)
