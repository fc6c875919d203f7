"""The common part of the callbacks: a watch driven by another library's loop."""

from __future__ import annotations

import os
import sys
from traceback import walk_stack
from types import FrameType
from typing import Any

from inplace_magic.render.deliver import tell
from inplace_magic.report import Report
from inplace_magic.watching.api import watch
from inplace_magic.watching.windows import Schedule, schedule

FIRST_STEPS = schedule(active=3, repeat=1)
"""The default schedule: a fault of every step shows in three steps."""


class Watching:
    """How a callback is made, its report, and what its hooks call: one watch for each run of the loop."""

    def __init__(
        self, *, schedule: Schedule | None = None, save: str | os.PathLike[str] | None = None, **settings: Any
    ) -> None:
        self._watch_settings = {**settings, "schedule": schedule or FIRST_STEPS, "save": save}
        self._watch = watch(**self._watch_settings)  # here, so that an option that does not exist is refused at once
        self._is_watching = False

    @property
    def report(self) -> Report | None:
        """The report; None until the run has ended."""
        return self._watch.report

    def _begin_watching(self) -> None:
        """The loop begins, on this thread."""
        self._watch, self._is_watching = watch(**self._watch_settings), True
        self._watch.begin(_outermost())

    def _step_is_done(self) -> None:
        """One step of the optimizer is done."""
        if self._is_watching:
            self._watch.step()

    def _end_watching(self, error: BaseException | None = None) -> None:
        """End the loop; print findings on standard error, or put them into the notes of the error."""
        if not self._is_watching:
            return
        self._is_watching = False
        self._watch.end(error, _outermost())
        if error is None and self._watch.report is not None:
            tell(self._watch.report, quiet=True)


def _outermost() -> FrameType:
    """Return the frame of the program: who called the loop belongs to the story of a line in it."""
    *_inner, (frame, _line) = walk_stack(sys._getframe(1))
    return frame
