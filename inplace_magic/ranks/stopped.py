"""A rank that its launcher stops, since another has failed, tells first what it saw."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

from inplace_magic.capture import forks


class SIGTERM(BaseException):
    """What a report takes for the end of a block that was stopped, and names; it is never raised."""


class Stopped:
    """While it is on, SIGTERM ends the process as ever, and something is done before. Where the program handles the
    signal itself, or is not on the main thread, nothing is changed.

    A call of C that does not return keeps Python from hearing the signal, as with any handler; torchrun kills such a
    rank after half a minute.

    Args:
        before: what to do before the process ends.
    """

    def __init__(self, before: Callable[[], None]) -> None:
        self._before = before
        self._on = False

    def begin(self) -> None:
        """From now on."""
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._heard)
            self._on = True
            forks.begins(self)

    def end(self) -> None:
        """Until now."""
        if self._on and signal.getsignal(signal.SIGTERM) == self._heard:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._on = False
        forks.ends(self)

    abandon = end
    """A forked child is not a rank."""

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.end()
        try:
            self._before()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
