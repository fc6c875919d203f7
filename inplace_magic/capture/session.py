"""Begins and ends one watch on this thread: enters the probes, takes them off again on every exit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture import forks
from inplace_magic.capture.freeze import frozen_trace
from inplace_magic.capture.live import WeakTensors
from inplace_magic.capture.names import Namespace, read_namespace
from inplace_magic.capture.past.packed import Packed
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.stepping_aside import doors
from inplace_magic.capture.stepping_aside.aside import Aside
from inplace_magic.capture.torch import swapping, unpacking
from inplace_magic.capture.torch.hooks.global_hooks import GlobalHooks
from inplace_magic.capture.torch.modes import any_active, take_off
from inplace_magic.capture.torch.probes import CallProbe, OpProbe
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.capture.torch.writes.probe import WriteProbe
from inplace_magic.capture.written import written_trace
from inplace_magic.errors import InplaceMagicError, error_text
from inplace_magic.language import _
from inplace_magic.record import blindness
from inplace_magic.record.options import WatchOptions
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
        self._asking: GlobalHooks | None = None
        self._writes: WriteProbe | None = None
        """At level ``writes``; one for all cells of a story."""
        self._aside: Aside | None = None
        self.active = False
        self._forked = False
        """Whether this is the copy of a watch in a forked child."""

    refusal_of = staticmethod(refusal_of)
    """What PyTorch has refused about writing in place by an error of that text."""

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
        forks.WATCHES.add(self)
        try:
            swapping.begin(self)
            # Before the probes are on: nothing that this does is the user's.
            self._recorder.log.contained("preparing to step aside", self._open_doors)
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
            self._recorder.log.fault("taking the probes off", fault)
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
        forks.WATCHES.discard(self)
        self._recorder.log.contained("ending the block", self._recorder.end_block)

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
        self._aside = Aside(self._recorder, self._modes, self._moved, records=self._writes is None)
        doors.open_for(self._aside)
        self._hook()

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
            self._asking = self._asking or GlobalHooks(self._recorder)
            self._asking.hang(self._hooks)

    def _unhook(self) -> None:
        while self._hooks:
            self._hooks[-1].remove()  # first: an interrupt that strikes as it is dropped must not lose it
            self._hooks.pop()

    def _close_doors(self) -> None:
        if self._aside is None:
            return
        self._aside.finish()
        self._recorder.log.contained("ending to step aside", doors.close_for, self._aside)

    def live(self) -> WeakTensors:
        """Weak references to the recorded tensors that are alive now."""
        return WeakTensors((record.serial, tensor) for tensor, record in self._recorder.identity.live())

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
            text = None if error is None else error_text(error)
            return written_trace(self._writes, self._recorder, sources, seen, text)
        recorder, contained = self._recorder, self._recorder.log.contained
        found = contained("reading the names of tensors", read_namespace, namespace, recorder.identity) or Namespace()
        made = partial(frozen_trace, recorder, self.options, sources, found, seen, last=last)
        return contained("making the record readable", made) or Trace(
            level=self.options.level, torch_version=torch.__version__, faults=self.faults
        )
