"""Begins and ends one watch on this thread: enters the probes, takes them off again on every exit."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture import forks
from inplace_magic.capture.freeze import frozen_trace
from inplace_magic.capture.live import WeakTensors
from inplace_magic.capture.names import Namespace, read_namespace
from inplace_magic.capture.naming.scope import names_in_sight
from inplace_magic.capture.past.packed import Packed
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.stepping_aside import doors
from inplace_magic.capture.stepping_aside.aside import Aside
from inplace_magic.capture.torch import describe, swapping, unpacking
from inplace_magic.capture.torch.hooks.idle_steps import IdleSteps
from inplace_magic.capture.torch.hooks.registrations import Registrations
from inplace_magic.capture.torch.modes import any_active, take_off
from inplace_magic.capture.torch.probes import CallProbe, OpProbe
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.capture.torch.writes.probe import WriteProbe
from inplace_magic.capture.written import written_trace
from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _
from inplace_magic.record import blindness
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.refusal import Refusal
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources

_EARLIER = (blindness.SAVED_EARLIER,) if unpacking.NEEDED else ()
_SEEN_AT = {
    "calls": (blindness.INSIDE_CALLS, blindness.OTHER_THREADS, *_EARLIER),
    "ops": (blindness.OTHER_THREADS, blindness.SCRATCH, *_EARLIER),
    "writes": (blindness.WRITES_ALONE, blindness.OTHER_THREADS),
}


class Session:
    """One watch.

    Raises:
        InplaceMagicError: another watch is running on this thread.
    """

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self._recorder = Recorder(options)
        self._modes: list[Any] = []
        self._hooks: list[Any] = []
        """What makes optimizers ask before they step, and modules before they take a parameter; torch's own handles."""
        self._registrations: Registrations | None = None
        self._writes: WriteProbe | None = None
        """At level ``writes``; one for all cells of a story."""
        self._aside: Aside | None = None
        self.active = False
        self._forked = False
        """Whether this is the copy of a watch in a forked child."""

    @property
    def recorded(self) -> int:
        """How many calls were recorded so far."""
        return self._writes.count if self._writes is not None else self._recorder.log.ran

    @property
    def faults(self) -> tuple[str, ...]:
        """What of ours failed so far, and was contained."""
        return tuple(self._recorder.log.faults)

    def start(
        self, root: FrameType | None, cell_globals: Mapping[str, Any] | None = None, root_file: str | None = None
    ) -> None:
        """Enters the probes; after :meth:`leave`, for the next cell of the same story.

        Args:
            root: the frame that holds the watched block; no caller above it belongs to the story.
            cell_globals: the namespace of a shell's cells, where the frame is not known yet.
            root_file: the name under which the watched code was compiled, where that is known instead.
        """
        if any_active(CallProbe):
            raise InplaceMagicError(_("A watch is running already: end it before another begins."))
        self._recorder.sites.begin_at(root, cell_globals, root_file)
        self._recorder.begin_block()
        if self.options.level == "ops":
            self._modes.append(OpProbe(self._recorder))
        if self.options.level == "writes":
            self._writes = self._writes or WriteProbe(self._recorder, self.options.max_events)
        self._modes.append(self._writes or CallProbe(self._recorder))
        self.active = True
        forks.begins(self)
        try:
            swapping.begin(self)
            self._open_doors()  # before the probes are on: nothing that this does is the user's
            for mode in list(self._modes):
                mode.__enter__()
        except BaseException:  # an interrupt must not leave half of them on
            self.leave()
            raise

    def leave(self) -> None:
        """Takes the probes off; does nothing when they are off already."""
        if not self._modes:
            return
        try:
            self._close_doors()
            take_off(self._modes)
        except Exception as fault:  # containment: then the plain way, which is right unless somebody leaked a mode
            self._recorder.fault("taking the probes off", fault)
            for mode in reversed(self._modes):
                mode.__exit__(None, None, None)
        except BaseException:  # interrupted on the way: finish, then let the interrupt through
            self._close_doors()
            take_off(self._modes)
            raise
        finally:
            swapping.end(self)
            self._unhook()
            self.active = False
        self._modes.clear()
        try:
            forks.ends(self)
            self._recorder.end_block()
        except Exception as fault:  # containment: the cell is over, and its result stands
            self._recorder.fault("ending the block", fault)

    def abandon(self) -> None:
        """In a forked child: the probes are silent from now on, and off; within a call that forked, off with the block,
        since that call puts back and takes off what it finds."""
        self._forked = True
        self._unhook()
        for mode in self._modes:
            forks.silence(mode)
        if not self._recorder.running.here():
            take_off(self._modes)
            self._modes.clear()
            self.active = False

    def _open_doors(self) -> None:
        try:
            self._aside = Aside(self._recorder, self._modes, self._moved, records=self._writes is None)
            doors.open_for(self._aside)
            self._hook()
        except Exception as fault:  # containment: what is traced or compiled is watched as any other program
            self._recorder.fault("preparing to step aside", fault)

    def _moved(self) -> None:
        """The probes went aside or came back, on this thread or on one of the engine's."""
        with doors.LOCK:
            doors.move()
            self._hook()

    def _hook(self) -> None:
        """Has optimizers and modules ask while the probes are on, and only then: a tracer would see it. What they ask
        is nothing to level ``writes``."""
        self._unhook()
        if self._writes is None and self.active and self._aside is not None and not self._aside.works:
            self._registrations = self._registrations or Registrations(self._recorder)
            self._hooks.append(IdleSteps(self._recorder).registered())
            self._hooks.append(self._registrations.registered())

    def _unhook(self) -> None:
        while self._hooks:
            self._hooks[-1].remove()  # first: an interrupt that strikes as it is dropped must not lose it
            self._hooks.pop()

    def _close_doors(self) -> None:
        if self._aside is None:
            return
        self._aside.finish()
        try:
            doors.close_for(self._aside)
        except Exception as fault:  # containment: once more, and what was done stays done
            self._recorder.fault("ending to step aside", fault)

    def live(self) -> WeakTensors:
        """Weak references to the recorded tensors that are alive now."""
        return WeakTensors((record.serial, tensor) for tensor, record in self._recorder.identity.live())

    def refused(self, error: BaseException) -> tuple[str, Refusal | None]:
        """Return the text of an error, and what PyTorch has refused by it about writing in place."""
        text = describe.error_text(error)
        return text, refusal_of(text)

    def let_go(self) -> None:
        """The watch is over: takes its weak references off the user's tensors at once, without waiting for the garbage
        collector; ``torch.utils.swap_tensors`` refuses tensors that have one."""
        recorder = self._recorder
        for record in recorder.identity.tensors.values():
            record.latest = None  # it leads back to the record
        recorder.identity.tensors.clear()
        recorder.nodes.leaves.clear()
        recorder.nodes.records.clear()
        recorder.log.calls.clear()
        recorder.room.packed = Packed()

    def trace(
        self,
        *,
        sources: Sources,
        namespace: Mapping[str, Any] | FrameType,
        error: BaseException | None,
        last: bool = True,
    ) -> Trace:
        """Return the record of the watch so far, while the probes are off.

        Args:
            namespace: the user's names, or the frame in whose sight they are.
            error: what ended the block.
            last: nothing more will be recorded.
        """
        if self._forked:
            return Trace(level=self.options.level, torch_version=torch.__version__, blindness=(blindness.FORKED,))
        seen = _SEEN_AT[self.options.level]
        if self._writes is not None:
            text = None if error is None else describe.error_text(error)
            return written_trace(self._writes, self._recorder, sources, seen, text)
        try:
            names = names_in_sight(namespace) if isinstance(namespace, FrameType) else namespace
            found = read_namespace(names, self._recorder.identity)
        except Exception as fault:  # containment: without names the rest is still worth telling
            self._recorder.fault("reading the names of tensors", fault)
            found = Namespace()
        try:
            return frozen_trace(self._recorder, self.options, sources, found, seen, last=last)
        except Exception as fault:  # containment: the block's own result must not change because of its record
            self._recorder.fault("making the record readable", fault)
            return Trace(level=self.options.level, torch_version=torch.__version__, faults=self.faults)
