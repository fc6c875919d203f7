"""The sessions of one watch: one for each framework that the watched code uses.

PyTorch is watched from the beginning, unless Paddle alone was imported; Paddle from the moment at which the program has
it. Nobody but the program imports Paddle.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING, Any

from inplace_magic.capture.frames import imported
from inplace_magic.capture.log import Faults
from inplace_magic.capture.stepping_aside.late_imports import LateImports
from inplace_magic.errors import InplaceMagicError, error_text
from inplace_magic.language import _
from inplace_magic.record import blindness
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.origin import LiveTensors
from inplace_magic.record.trace import Trace
from inplace_magic.source.places import Sources

if TYPE_CHECKING:
    from inplace_magic.capture.paddle.session import PaddleSession
    from inplace_magic.capture.session import Session

_running: dict[int, Sessions] = {}
"""By number of the thread: the watch that is on there."""


class Sessions:
    """One watch. Arguments and errors of its methods are those of the sessions'."""

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self.active = False
        self._torch: Session | None = None
        self._paddle: PaddleSession | None = None
        self._place: tuple[Any, ...] | None = None
        """Where the watched block is, while it runs."""
        self._thread = 0
        self._faults = Faults()
        self._too_old: str | None = None
        self._late = (LateImports(("torch",), self._begin_torch), LateImports(("paddle",), self._begin_paddle))

    @property
    def recorded(self) -> int:
        """How many calls were recorded so far."""
        return sum(session.recorded for session in (self._torch, self._paddle) if session is not None)

    def start(
        self, root: FrameType | None, cell_globals: Mapping[str, Any] | None = None, root_file: str | None = None
    ) -> None:
        """Begins, or goes on after :meth:`leave`.

        Raises:
            InplaceMagicError: another watch is running on this thread.
        """
        self._thread = threading.get_ident()
        if self._thread in _running:
            raise InplaceMagicError(_("A watch is running already: end it before another begins."))
        _running[self._thread] = self
        self._place = root, cell_globals, root_file
        self.active = True
        try:
            paddle = imported("paddle")
            if "torch" in sys.modules or (paddle is None and find_spec("torch") is not None):
                self._begin_torch()
            if paddle is not None:
                self._begin_paddle()
            for late in self._late:
                late.begin()
        except BaseException:  # an interrupt must not leave half of it on
            self.leave()
            raise

    def leave(self) -> None:
        """Ends what :meth:`start` began; does nothing when that is over already."""
        if not self.active:
            return
        try:
            self._leave()
        except BaseException:  # interrupted on the way: finish, then let the interrupt through
            self._leave()
            raise
        finally:
            if _running.get(self._thread) is self:
                del _running[self._thread]
            self.active = False  # last: an interrupt on the way finds something to leave, and leaves it again
            self._place = None

    def _leave(self) -> None:
        for late in self._late:
            late.end()
        try:
            if self._paddle is not None:
                self._paddle.leave()
        finally:
            if self._torch is not None:
                self._torch.leave()

    def _begin_torch(self) -> None:
        if self._place is None or threading.get_ident() != self._thread:
            return
        from inplace_magic.capture.session import Session

        if self._torch is None:
            self._torch = Session(self.options)
        if not self._torch.active:
            self._torch.start(*self._place)

    def _begin_paddle(self) -> None:
        """Never raises: a fault of ours with Paddle leaves the block, and what is seen of PyTorch, as they are."""
        if self._place is not None and threading.get_ident() == self._thread and imported("paddle") is not None:
            self._faults.contained("beginning to watch Paddle", self._start_paddle, self._place)

    def _start_paddle(self, place: tuple[Any, ...]) -> None:
        if self._paddle is None:
            from inplace_magic.capture.paddle.session import PaddleSession, can_be_watched

            if not can_be_watched():
                self._too_old = str(sys.modules["paddle"].__version__)
                return
            self._paddle = PaddleSession(self.options)
        if not self._paddle.active:
            self._paddle.start(*place)

    def live(self) -> LiveTensors | None:
        """Weak references to the recorded tensors that are alive now; None where there are none to be had."""
        return self._torch.live() if self._torch is not None and not self._is_about_paddle() else None

    def let_go(self) -> None:
        """The watch is over: takes its weak references off the user's tensors."""
        for session in (self._torch, self._paddle):
            if session is not None:
                session.let_go()

    def trace(
        self,
        *,
        sources: Sources,
        namespace: Mapping[str, Any] | FrameType,
        error: BaseException | None,
        cell: int | None,
        source: str,
        last: bool = True,
    ) -> Trace:
        """Return the record of the watch so far. Where the block used both frameworks, that of the one whose error
        ended it, else of the one which it called more often, and a sentence on the other."""
        about_paddle = self._is_about_paddle(error)
        other = self._torch if about_paddle else self._paddle
        text, refusal = None if error is None else error_text(error), None
        if self._paddle is not None and about_paddle:
            trace = self._paddle.trace(sources=sources, namespace=namespace)
            refusal = self._paddle.refusal_of(text)
        elif self._torch is not None:
            trace = self._torch.trace(sources=sources, namespace=namespace, error=error, last=last)
            refusal = self._torch.refusal_of(text)
        else:
            trace = Trace(level=self.options.level)
        unseen = trace.blindness
        if other is not None and other.recorded:
            unseen = (blindness.TWO_FRAMEWORKS.format(count=f"{other.recorded:,}"), *unseen)
        if self._too_old is not None:
            unseen = (blindness.PADDLE_TOO_OLD.format(file=self._too_old), *unseen)
        return replace(
            trace,
            error=text,
            refusal=refusal,
            cell=cell,
            source=tuple(source.splitlines()),
            blindness=unseen,
            faults=(*trace.faults, *(() if other is None else other.faults), *self._faults.faults),
        )

    def _is_about_paddle(self, error: BaseException | None = None) -> bool:
        if self._paddle is None or self._torch is None:
            return self._paddle is not None
        if error is not None and self._paddle.recorded and self._torch.recorded:
            text = error_text(error)
            explained = self._paddle.refusal_of(text) is not None
            if explained != (self._torch.refusal_of(text) is not None):
                return explained
        return self._paddle.recorded > self._torch.recorded
