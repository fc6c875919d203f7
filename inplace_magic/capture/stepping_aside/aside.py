"""Steps aside while PyTorch traces, compiles or exports the user's program, and takes its place again.

A tracer must see the program as it is: a mode on torch's stacks is guarded on by dynamo, ends up in the graphs and
names of ``torch.jit.trace``, and is refused by higher-order operators. So both probes are taken off for as long as
such work runs, and the doors of :mod:`.doors` with them. What is kept is one call, from outside: which line asked for
the work, what it was given, what it gave, and which known tensors it wrote.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any, NamedTuple

import torch

from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.running import OpenCall
from inplace_magic.capture.torch.callers import Callers
from inplace_magic.capture.torch.functions import FunctionFacts
from inplace_magic.capture.torch.modes import Absence, any_on
from inplace_magic.record import blindness


class Work(NamedTuple):
    """A kind of work that is not watched."""

    name: str
    sentence: str
    """What the report says of it."""
    facts: FunctionFacts | None = None
    """Of the call as which it is recorded; None: as none."""


def _work(name: str, sentence: str) -> Work:
    facts = FunctionFacts(torch.compile)
    facts.name, facts.code, facts.keeps_layout = name, None, False
    return Work(name, sentence, facts)


COMPILED_BACKWARD = Work("torch.compile", blindness.RAN_COMPILED)
"""Part of a backward, which is a call; and gradients are written in between, by the engine."""
COMPILED = _work("torch.compile", blindness.RAN_COMPILED)
TRACED = _work("torch.jit.trace", blindness.TRACED)
GRAPHED = _work("torch.fx", blindness.TRACED)
EXPORTED = _work("torch.export", blindness.TRACED)
TO_ONNX = _work("torch.onnx.export", blindness.TRACED)
FUNCTIONALIZED = _work("torch.func.functionalize", blindness.FUNCTIONALIZED)
SCRIPTED = _work("torch.jit.script", blindness.SCRIPTED)
REPLAYED = Work("CUDAGraph.replay", blindness.REPLAYED)

_NONE: Mapping[str, Any] = {}


@dataclass
class _Away:
    """An absence."""

    token: object
    work: Work | None
    call: OpenCall | None
    handled: int
    """``id`` of the error that an ``except`` around it all is dealing with."""
    absence: Absence | None = None


class Aside:
    """The absences of one watch; on each thread one at a time, since what runs within it runs unwatched. Besides the
    thread of the watched block there are those of autograd's engine, on which backward of CUDA tensors runs.

    Args:
        modes: the probes; all of them, from now on.
        records: whether such work is recorded as calls; at level ``writes`` none is.
    """

    def __init__(self, recorder: Recorder, modes: list[Any], changed: Callable[[], Any], *, records: bool) -> None:
        self._recorder = recorder
        self._records = records
        self._modes = modes
        self._changed = changed
        self._away: dict[int, _Away] = {}
        """By thread."""
        self._over = False
        self.callers = Callers()
        """In whose name TorchScript is called."""
        self.sees_operators = len(modes) > 1
        """Whether a dispatch mode is among them."""

    @property
    def away(self) -> bool:
        """True if the probes are off this thread now."""
        return threading.get_ident() in self._away

    @property
    def works(self) -> list[Work | None]:
        """What it is aside for now, on any thread."""
        return [away.work for away in list(self._away.values())]

    def is_for(self, token: object) -> bool:
        """True if they were taken off this thread with this token."""
        away = self._away.get(threading.get_ident())
        return away is not None and away.token == token

    def is_about_here(self) -> bool:
        """True if the probes are on this thread, or were until the watch stepped aside."""
        return self.away or any_on(self._modes)

    def begin(
        self,
        token: object,
        work: Work | None,
        frame: FrameType | None,
        args: Any = (),
        kwargs: Mapping[str, Any] = _NONE,
    ) -> bool:
        """Takes the probes off; does nothing where they are off already.

        Args:
            token: what :meth:`end` will be given.
            work: what is about to run; None: nothing of the user's, so that nothing is noted.
            frame: the frame that runs it; None: C++ alone.
            kwargs: likewise, by name.

        Returns:
            Whether the probes were taken off just now.
        """
        if self._over or self.away:
            return False
        call = None if work is None else self.open(work, args, kwargs, frame)
        away = self._away[threading.get_ident()] = _Away(token, work, call, id(sys.exc_info()[1]))
        try:
            away.absence = Absence(self._modes)
            away.absence.begin()
            self._changed()
        except Exception as fault:  # containment: then the work is watched as any other
            self._recorder.log.fault("stepping aside", fault)
            self.end(token)
            return False
        except BaseException:  # interrupted half way
            self.end(token)
            raise
        return True

    def end(self, token: object, result: Any = None, error: BaseException | None = None) -> None:
        """Puts the probes back where they were, if they were taken off with this token.

        Args:
            token: as :meth:`begin` was given.
            result: what the work gave; None where that is not known.
            error: what it raised, or what an ``except`` around it all is dealing with.
        """
        away = self._away.get(threading.get_ident())
        if away is None or away.token != token:
            return
        if id(error) == away.handled:
            error = None
        call, away.call = away.call, None
        try:
            self.close(call, result, error)
        finally:
            try:
                self._come_back(away)
            except Exception as fault:  # containment: the rest of the block runs unwatched, and that is said
                self._recorder.log.fault("coming back", fault)
            except BaseException:  # interrupted: finish, then let the interrupt through
                self._come_back(away)
                raise

    def _come_back(self, away: _Away) -> None:
        if away.absence is not None and not self._over:
            away.absence.end()
        away.absence = None
        self._away.pop(threading.get_ident(), None)
        self._changed()

    def finish(self) -> None:
        """The watch ends; whoever is away stays away."""
        self._over = True

    def open(self, work: Work, args: Any, kwargs: Mapping[str, Any], frame: FrameType | None) -> OpenCall | None:
        """Notes the work as a call that is about to run."""
        return self._recorder.log.within_call("opening a call", self._opened, work, args, kwargs, frame)

    def _opened(self, work: Work, args: Any, kwargs: Mapping[str, Any], frame: FrameType | None) -> OpenCall | None:
        recorder = self._recorder
        with recorder.alone, torch._C.DisableTorchFunction():  # our own reads are no calls of the user's
            site = recorder.sites.note(frame)
            recorder.log.not_seen[work.sentence, work.name, site] = None
            if work.facts is None or not self._records:
                return None
            recorder.look_at_moved(site)
            given = tuple(args) if type(args) in (tuple, list) else ()
            call = recorder.open(work.facts, given, kwargs or {}, frame)
            call.unseen = len(recorder.log.unseen)
            return call

    def count(self, work: Work, frame: FrameType) -> None:
        """Notes once more that such work runs, which is no call and for which the watch need not step aside."""
        self._recorder.log.within_call("counting what is not watched", self._count, work, frame)

    def _count(self, work: Work, frame: FrameType) -> None:
        not_seen = self._recorder.log.not_seen
        with torch._C.DisableTorchFunction():
            key = work.sentence, work.name, self._recorder.sites.note(frame)
            not_seen[key] = (not_seen.get(key) or 0) + 1

    def close(self, call: OpenCall | None, result: Any, error: BaseException | None) -> None:
        """Notes how it ended, and which of the tensors met so far it wrote."""
        if call is None:
            return
        try:
            self._recorder.log.within_call("closing a call", self._closed, call, result, error)
        finally:
            self._recorder.drop(call)

    def _closed(self, call: OpenCall, result: Any, error: BaseException | None) -> None:
        with self._recorder.alone, torch._C.DisableTorchFunction():
            self._recorder.add_moved(call)
            self._recorder.close(call, result, error)


WATCHING: dict[int, Aside] = {}
"""By thread of the watched block, whose doors lead where."""


def here() -> Aside | None:
    """Return the watch of this thread, or that of the backward for which this thread of the engine's works; None where
    none runs. The engine takes the probes along, and by them the watch is known."""
    found = WATCHING.get(threading.get_ident())
    if found is None and WATCHING:
        for aside in list(WATCHING.values()):
            if aside.is_about_here():
                return aside
    return found
