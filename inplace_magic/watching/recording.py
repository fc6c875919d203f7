"""A recording and its report: how it starts, pauses, reports and ends.

Cells, callbacks and ``with watch()`` start and end it in their own ways; the common part is here.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import CO_NEWLOCALS
from textwrap import dedent
from threading import get_ident
from types import FrameType
from typing import Any

from inplace_magic.capture.sessions import Sessions
from inplace_magic.capture.stepping_aside.subclasses import made_of_a_tensor
from inplace_magic.errors import InplaceMagicError, error_text
from inplace_magic.language import _, listed, use_language
from inplace_magic.record.blindness import GAVE_WAY, STEPPED_DOWN
from inplace_magic.record.garbage import collection_paused
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report
from inplace_magic.source.places import Sources
from inplace_magic.source.shells import cells_so_far

ASK = "Please report it."
_MANY = 5_000
"""Calls; with more, one garbage collection of their records takes longer than all its other work."""
_FAILED = "inplace_magic could not make the report of this block; the block itself was not affected"

_of_thread: dict[int, Recording] = {}
"""The newest running recording of each thread."""


class Recording:
    """The recording of one watch, on its own thread.

    Args:
        options: what to record.
    """

    report: Report | None = None
    """The newest report."""

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self._session: Sessions | None = None
        self._gave_way = False
        self._gives_way = False
        self._resume: Callable[[], None] | None = None
        """Starts the next stretch; None outside a block."""
        self._place: tuple[int | None, str | None, str] = (None, None, "")
        self._stepped_down = ""
        """Why the recording changed its level; empty if it did not."""

    def start(
        self,
        *,
        cell: int | None = None,
        filename: str | None = None,
        source: str = "",
        frame: FrameType | None = None,
        cell_globals: Mapping[str, Any] | None = None,
        gives_way: bool = False,
    ) -> None:
        """Start recording on this thread; continue after :meth:`leave` or :meth:`peek`.

        Args:
            cell: execution count of the watched cell; None outside a notebook.
            filename: the name under which the cell was compiled (``frame.f_code.co_filename`` of its code).
            source: the cell's text as typed, with its magic line.
            frame: frame of the watched block, where chains of callers end; by default the one that runs `filename`, now
                or later, or without a file name the caller's.
            cell_globals: instead of a frame, before a shell runs a cell: the namespace of its cells. Chains of callers
                end at the cell's lines.
            gives_way: if the watched program starts its own watch, end instead of refusing.

        Raises:
            InplaceMagicError: this watch, or another on this thread, is running.
        """
        if self._session is not None and self._session.active:
            raise InplaceMagicError(_("This watch is running already."))
        self._place = (cell, filename, source)
        self._resume = partial(
            self.start,
            cell=cell,
            filename=filename,
            source=source,
            frame=frame,
            cell_globals=cell_globals,
            gives_way=gives_way,
        )
        self._gives_way = gives_way
        self._take_over()
        if self._session is None:
            self._step_down(source or _text_of(filename, frame))
            self._session = Sessions(self.options)
        if cell_globals is not None:
            self._session.start(None, cell_globals)
            return
        frame = frame or _frame_of(filename)
        if frame is None and filename is not None:
            self._session.start(None, root_file=filename)
        else:
            self._session.start(frame or sys._getframe(1))

    def _step_down(self, source: str) -> None:
        """Continue at level ``calls`` if level ``ops`` would make the program's tensor subclasses raise."""
        if self.options.level != "ops":
            return
        names = made_of_a_tensor(source)
        if names:
            self._stepped_down = STEPPED_DOWN.format(names=listed([f"`{name}`" for name in names]))
            self.options = replace(self.options, level="calls")

    @property
    def began(self) -> bool:
        """True if it was started and not stopped."""
        return self._session is not None

    @property
    def recorded(self) -> int:
        """Return the number of recorded calls; cheap, and the probes stay on."""
        return self._session.recorded if self._session is not None else 0

    def leave(self) -> None:
        """Take the probes off and keep the record: :meth:`start` continues the story, :meth:`peek` reports on it,
        :meth:`stop` ends it."""
        if self._session is not None:
            self._session.leave()

    def peek(
        self,
        *,
        namespace: Mapping[str, Any] | FrameType | None = None,
        cells: Mapping[str, int] | None = None,
        error: BaseException | None = None,
        last: bool = False,
    ) -> Report:
        """Take the probes off and report on the story so far; :meth:`start` continues it, unless this report is the
        `last`. Other arguments and errors as :meth:`stop`, also with the frame that has the names as namespace."""
        session = self._session
        if session is None:
            raise InplaceMagicError(_("This watch was never started."))
        try:
            session.leave()
        except BaseException:  # an interrupt that struck before its first line: it protects itself only from there on
            session.leave()
            raise
        cell, filename, source = self._place
        error = None if self._gave_way else error  # what came later has nothing to do with what was seen
        with collection_paused(lasting=self._is_long()):
            live = None
            try:
                trace = session.trace(
                    sources=Sources(cell, filename, source, cells_so_far() if cells is None else cells),
                    namespace={} if namespace is None else namespace,
                    error=error,
                    cell=cell,
                    source=source,
                    last=last,
                )
                met = trace.refusal is not None and any(call.refusal is not None for call in trace.calls)
                if error is not None and not met:
                    from inplace_magic.answering.asked import made

                    with use_language(self.options.lang):
                        trace = replace(trace, answer=made(error, cell, cells))
                added = [sentence for sentence in (self._stepped_down, GAVE_WAY if self._gave_way else "") if sentence]
                trace = replace(trace, blindness=(*trace.blindness, *added))
                live = session.live()
                if last:
                    trace = self._ended(trace)
            except Exception as fault:  # containment: the block's own result or error must come through
                trace = Trace(level=self.options.level, faults=(f"{_FAILED} ({error_text(fault)}). {ASK}",))
            with use_language(self.options.lang):
                self.report = replace(analyze(trace), live=live)
        return self.report

    def _is_long(self) -> bool:
        try:
            return self.recorded > _MANY
        except Exception:  # containment: what cannot be counted is told by whoever counts next
            return False

    def _ended(self, trace: Trace) -> Trace:
        assert self._session is not None
        try:
            self._session.let_go()
        except Exception as fault:  # containment: the record is made, and stands
            text = f"inplace_magic failed while letting go of a watch ({error_text(fault)}). {ASK}"
            return replace(trace, faults=(*trace.faults, text))
        return trace

    def _take_over(self) -> None:
        """Become the watch of this thread; one that gives way ends."""
        other = _of_thread.get(get_ident())
        if other is not None and other is not self and other._gives_way:
            other._gave_way = other._session is not None and other._session.active
            other.leave()
        _of_thread[get_ident()] = self

    def _forget(self) -> None:
        """Forget the block, which is over."""
        self._resume = None
        if _of_thread.get(get_ident()) is self:
            del _of_thread[get_ident()]


def running_here() -> Recording | None:
    """Return the recording of this thread, running or paused, or None."""
    return _of_thread.get(get_ident())


def _text_of(filename: str | None, frame: FrameType | None) -> str:
    """Return the text compiled under a name, or the text of a frame's function."""
    if filename is not None or frame is None:
        return "".join(linecache.getlines(filename)) if filename is not None else ""
    code = frame.f_code
    lines = linecache.getlines(code.co_filename)
    if code.co_flags & CO_NEWLOCALS:
        last = max((line for *_range, line in code.co_lines() if line is not None), default=code.co_firstlineno)
        lines = lines[code.co_firstlineno - 1 : last]
    return dedent("".join(lines))


def _frame_of(filename: str | None) -> FrameType | None:
    frame: FrameType | None = sys._getframe(2) if filename is not None else None
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return frame


def analyze(trace: Trace) -> Report:
    """Return the report of a trace, without torch."""
    with collection_paused():
        return Report.from_trace(trace)
