"""The common part of the callbacks: a watch driven by another library's loop."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

from inplace_magic.render.deliver import tell
from inplace_magic.report import Report
from inplace_magic.watching.api import watch
from inplace_magic.watching.scheduling import Schedule, schedule

FIRST_STEPS = schedule(active=3, repeat=1)
"""The default schedule: a fault of every step shows in three steps."""


class WatchedRun:
    """One run of a training loop.

    Args:
        chosen: which steps are watched; the first three where it is None.
        save: as for :class:`inplace_magic.watch`.
        settings: as for :class:`inplace_magic.watch`.
    """

    def __init__(self, chosen: Schedule | None, save: str | os.PathLike[str] | None, settings: dict[str, Any]) -> None:
        self._settings = {**settings, "schedule": chosen or FIRST_STEPS, "save": save}
        self._watch: watch | None = None
        self.last = watch(**self._settings)  # here, so that an option that does not exist is refused at once

    @property
    def report(self) -> Report | None:
        """The report of the last run; None until it has ended."""
        return self.last.report

    @property
    def running(self) -> bool:
        return self._watch is not None

    def begin(self) -> None:
        """The loop begins, on this thread."""
        self._watch = self.last = watch(**self._settings)
        self._watch.begin(_outermost())

    def step(self) -> None:
        """One step of the optimizer is done."""
        if self._watch is not None:
            self._watch.step()

    def end(self, error: BaseException | None = None) -> None:
        """End the loop; print findings on standard error, or put them into the notes of the error."""
        ended, self._watch = self._watch, None
        if ended is None:
            return
        ended.end(error, _outermost())
        if error is None and ended.report is not None:
            tell(ended.report, quiet=True)


class Watching:
    """How a callback is made, and its report."""

    def __init__(
        self, *, schedule: Schedule | None = None, save: str | os.PathLike[str] | None = None, **settings: Any
    ) -> None:
        self._run = WatchedRun(schedule, save, settings)

    @property
    def report(self) -> Report | None:
        """The report; None until the run has ended."""
        return self._run.report


def _outermost() -> FrameType:
    """Return the frame of the program: who called the loop belongs to the story of a line in it."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
    return frame
