"""Begins and ends one watch of Paddle's tensors on this thread: stand-ins go into their spots, and out on any exit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

import paddle

from inplace_magic.capture import forks
from inplace_magic.capture.paddle.freeze import frozen_trace
from inplace_magic.capture.paddle.probe import Probe
from inplace_magic.capture.paddle.reach import read_namespace
from inplace_magic.capture.paddle.recorder import Recorder
from inplace_magic.capture.paddle.refusals import refusal_of
from inplace_magic.capture.paddle.spots import NOTHING, put_on, spots, take_off, wardrobe_of
from inplace_magic.record import blindness
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources

OLDEST = (3, 0)


def can_be_watched() -> bool:
    """True if this version of Paddle is one that can be."""
    numbers = paddle.__version__.split(".")[:2]
    return not all([part.isdigit() for part in numbers]) or tuple(map(int, numbers)) >= OLDEST or numbers == ["0", "0"]


class PaddleSession:
    """One watch of Paddle's tensors; what its methods take is told by :class:`.capture.session.Session`."""

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self._recorder = Recorder(options)
        self._probe: Probe | None = None
        self._wardrobe = NOTHING
        self.active = False
        self._forked = False

    refusal_of = staticmethod(refusal_of)
    """What Paddle has refused about writing in place by an error of that text."""

    @property
    def recorded(self) -> int:
        """How many calls were recorded so far."""
        return self._recorder.log.begun

    @property
    def faults(self) -> tuple[str, ...]:
        """What of ours failed so far, and was contained."""
        return tuple(self._recorder.log.faults)

    def start(
        self, root: FrameType | None, cell_globals: Mapping[str, Any] | None = None, root_file: str | None = None
    ) -> None:
        """Puts the stand-ins on; after :meth:`leave`, for the next cell of the same story."""
        self._recorder.sites.begin_at(root, cell_globals, root_file)
        self._recorder.begin_block()
        self._probe = Probe(self._recorder)
        self._wardrobe = wardrobe_of(spots())
        self.active = True
        forks.WATCHES.add(self)
        try:
            put_on(self._wardrobe, self._probe.stand_in)
        except BaseException:  # an interrupt must not leave half of them on
            self.leave()
            raise

    def leave(self) -> None:
        """Takes the stand-ins off; does nothing when they are off already."""
        if self._probe is None:
            return
        try:
            take_off(self._wardrobe)
        except BaseException:  # interrupted before its first line: it protects itself only from there on
            take_off(self._wardrobe)
            raise
        finally:
            self._probe.silent = True
            self.active = False
        self._probe = None
        forks.WATCHES.discard(self)
        self._recorder.log.contained("ending the block", self._recorder.end_block)

    def abandon(self) -> None:
        """In a forked child: the stand-ins are silent from now on, and off."""
        self._forked = True
        if self._probe is not None:
            self._probe.silent = True
            take_off(self._wardrobe)
            self._probe = None
            self.active = False

    def let_go(self) -> None:
        """The watch is over: lets go of its weak references to the user's tensors."""
        for record in self._recorder.identity.tensors.values():
            record.latest = None  # it leads back to the record
        self._recorder.identity.tensors.clear()
        self._recorder.nodes.records.clear()
        self._recorder.log.calls.clear()

    def trace(self, *, sources: Sources, namespace: Mapping[str, Any] | FrameType) -> Trace:
        """Return the record of the watch so far, while the stand-ins are off."""
        nothing = Trace(level="calls", framework="paddle", framework_version=paddle.__version__)
        if self._forked:
            return replace(nothing, blindness=(blindness.FORKED,))
        recorder, contained = self._recorder, self._recorder.log.contained
        read = contained("reading the names of tensors", read_namespace, namespace, recorder.identity)
        names, hooked = read or ((), ())
        unseen = [blindness.INSIDE_PADDLE_CALLS, blindness.OTHER_THREADS]
        other_level = {"ops": blindness.NO_OPS_OF_PADDLE, "writes": blindness.NO_WRITES_OF_PADDLE}
        if self.options.level in other_level:
            unseen.insert(0, other_level[self.options.level])
        made = contained("making the record readable", frozen_trace, recorder, self.options, sources, names, unseen)
        return replace(nothing, faults=self.faults) if made is None else replace(made, hooked_modules=hooked)
