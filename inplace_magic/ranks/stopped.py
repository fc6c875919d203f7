"""A rank that its launcher stops, because another rank failed, first reports its findings."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

from inplace_magic.capture import forks


class SIGTERM(BaseException):
    """Stands in a report for the end of a stopped block; it is never raised."""


class Stopped:
    """While it is on, SIGTERM ends the process as ever, and something is done before. Where the program handles the
    signal itself, or is not on the main thread, nothing is changed.

    A call of C that does not return keeps Python from hearing the signal, as with any handler; torchrun kills such a
    rank after half a minute.
    """

    def __init__(self, before: Callable[[], None]) -> None:
        self._before = before
        self._on = False
        self._ending = False
        self.heard = False
        """True after the signal: the rest is done in a hurry."""

    def begin(self) -> None:
        """From now on."""
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._hear)
            self._on = True
            forks.WATCHES.add(self)

    def ending(self) -> None:
        """In this block the program is over and its report is finished even if the signal comes."""
        self._ending = True

    def end(self) -> None:
        """Until now."""
        if self._on and signal.getsignal(signal.SIGTERM) == self._hear:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._on = False
        forks.WATCHES.discard(self)

    abandon = end
    """A forked child is not a rank."""

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard = True
        if self._ending:
            return
        self._ending = True
        try:
            self._before()
        finally:
            self.end()
            os.kill(os.getpid(), signal.SIGTERM)
