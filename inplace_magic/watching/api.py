"""The one place that joins both sides: a capture writes a trace, the read side makes a report of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from inspect import CO_NEWLOCALS
from types import FrameType, TracebackType
from typing import Any

from inplace_magic.errors import InplaceMagicError, OptionError, error_text
from inplace_magic.language import N_, _
from inplace_magic.record.options import DeliverOptions, ShowOptions, WatchOptions
from inplace_magic.record.origin import Origin
from inplace_magic.record.trace import Trace
from inplace_magic.render.deliver import attach, write
from inplace_magic.report import Report
from inplace_magic.watching.last import note
from inplace_magic.watching.recording import ASK, Recording, running_here
from inplace_magic.watching.recording import analyze as analyze  # the other door of the record
from inplace_magic.watching.windows import Schedule, Windows

_NOT_BEGUN = "inplace_magic could not begin to watch, and the block ran unwatched"
_ELSEWHERE = {
    "out": N_("watch() has no option `out`, which is for notebooks: after the block the report is `w.report`."),
    "prove": N_("watch() has no option `prove`: after the block `w.report.prove()` tries the fixes."),
    "widget": N_("watch() has no option `widget`: `w.report.to_widget()` makes the live view after the block."),
    "opened": N_("watch() has no option `opened`, which is for notebooks: a saved page shows its sections open."),
}
"""Options of the magic that scripts do not take."""


class watch(Recording):
    """Watch a block of code: ``with watch() as w: ...``, then ``w.report``.

    An exception that leaves the block carries the finding in its notes.

    Args:
        options: what to record; or pass its fields as keyword arguments, see :class:`WatchOptions`.
        schedule: which steps of a long run to watch, see :func:`inplace_magic.schedule`; call :meth:`step` after each
            step. Each stretch of watched steps has its own report; :attr:`reports` has those with findings.
        save: a file for the report, written when the block ends, also by an exception. The suffix picks the format:
            ``.html``, ``.svg``, ``.png``, ``.dot``, ``.json`` or ``.csv``. One line on stderr gives its path, or the
            reason why it was not written.
        raw: show raw ``id`` and ``data_ptr`` in the picture of that file.
        graph: draw the autograd graph in it.
        settings: fields of :class:`WatchOptions`.

    Raises:
        OptionError: an option that does not exist or a value it cannot take.

    Example:
        >>> with inplace_magic.watch() as w:
        ...     y = torch.sigmoid(x)
        >>> print(w.report.to_text())
    """

    report: Report | None = None
    """The report; None until the block has ended. With a schedule or a pause, the report of the stretch with the error,
    else with the worst finding."""
    reports: tuple[Report, ...] = ()
    """The reports of all stretches with findings, the worst first, each finding once; empty without a schedule and
    without a pause."""

    def __init__(
        self,
        options: WatchOptions | None = None,
        *,
        schedule: Schedule | None = None,
        save: str | os.PathLike[str] | None = None,
        raw: bool = False,
        graph: bool = True,
        **settings: Any,
    ) -> None:
        unknown = sorted(set(settings) - set(WatchOptions.__dataclass_fields__))
        if unknown:
            raise OptionError(_not_an_option(unknown[0]))
        if options is not None and settings:
            raise OptionError(_("Give watch() either a WatchOptions record or single options, not both."))
        super().__init__(options or WatchOptions(**settings))
        self._deliver = DeliverOptions(save=None if save is None else os.fspath(save))
        self._show = ShowOptions(raw=raw, graph=graph)
        self._fault: str | None = None
        self._origin: Origin | None = None
        self._lost: str | None = None
        """Why the origin is unknown, if that is our fault."""
        self._schedule = schedule
        self._step = 0
        self._pauses = 0
        self._windows: Windows | None = None
        self._names: FrameType | None = None
        """The frame of the block, which has the names of tensors; None if unknown."""

    def stop(
        self,
        *,
        namespace: Mapping[str, Any] | None = None,
        cells: Mapping[str, int] | None = None,
        error: BaseException | None = None,
        made: Report | None = None,
    ) -> Report:
        """End recording and make the report.

        Args:
            namespace: namespace with the names of tensors (the shell's ``user_ns``).
            cells: execution count by compiled file name, for code of cells; by default from the shell of this process.
            error: what the watched block raised.
            made: the report of :meth:`peek`, if nothing was recorded since.

        Raises:
            InplaceMagicError: the watch was never started.
        """
        if made is None:
            report = self.peek(namespace=namespace, cells=cells, error=error, last=True)
        else:
            self.leave()
            report = replace(made, trace=self._ended(made.trace))
        self._forget()
        return self._report_of_all(report)

    def _forget(self) -> None:
        super()._forget()
        self._names = None

    def _report_of_all(self, report: Report | None) -> Report:
        """Return the report of all stretches, given that of the last."""
        self._session = None
        if self._windows is not None:
            report = self._windows.end(report)
            self.reports = tuple(self._windows.found)
        self.report = report or analyze(Trace(level=self.options.level))
        return self.report

    def __enter__(self) -> watch:
        frame = sys._getframe(1)
        self.begin(frame)
        if self._schedule is None and self._session is not None:
            self._note_origin(frame)
        return self

    def _note_origin(self, frame: FrameType) -> None:
        """Note how the block can run again; not without PyTorch."""
        if "torch" not in sys.modules:
            return
        try:
            from inplace_magic.rerun.blocks import Block  # a file more to load than a watch needs

            self._origin = Block.at(frame)
        except Exception as fault:  # containment: without it no fix can be tried, and the block runs as it is
            self._lost = f"inplace_magic failed while noting where the block begins ({error_text(fault)}). {ASK}"

    def begin(self, frame: FrameType) -> None:
        """Begin the block, as ``with`` does; for a host such as a callback, which calls :meth:`end` later.

        Args:
            frame: frame of the block, where chains of callers end.

        Raises:
            InplaceMagicError: this watch, or another on this thread, is running.
        """
        self._names, self._step, self._pauses = frame, 0, 0
        self._resume = partial(self.start, frame=frame)
        self._windows = None if self._schedule is None else Windows()
        self._take_over()
        self._open()

    def step(self) -> None:
        """Mark the end of one step; begin or end a stretch of watched steps by the schedule.

        Raises:
            InplaceMagicError: the watch has no schedule.
        """
        if self._schedule is None:
            raise InplaceMagicError(_("This watch has no schedule: write `watch(schedule=schedule(active=2))`."))
        self._step += 1
        self._open_or_close()

    @staticmethod
    @contextmanager
    def paused() -> Iterator[None]:
        """``with watch.paused():`` does not watch this block, at no cost. The code before it and the code after it are
        judged separately, since the pause is unknown. Without a watch on this thread it does nothing."""
        running = running_here()
        if not isinstance(running, watch):
            yield
            return
        running._pauses += 1
        running._open_or_close()
        try:
            yield
        finally:
            running._pauses -= 1
            running._open_or_close()

    def _open_or_close(self) -> None:
        if self._resume is None or self._gave_way:
            return
        wanted = self._is_wanted()
        if self._session is not None and not wanted:
            self._windows = self._windows or Windows()
            self._windows.close(self.peek(namespace=self._names, last=True))
            self._session = None
        elif self._session is None and wanted:
            self._open()

    def _is_wanted(self) -> bool:
        return self._pauses == 0 and (self._schedule is None or bool(self._schedule(self._step)))

    def _open(self) -> None:
        if not self._is_wanted():
            return
        assert self._resume is not None
        try:
            self._resume()
        except InplaceMagicError:
            raise
        except Exception as fault:  # containment: a fault of ours must not keep the user's block from running
            self._fault = f"{_NOT_BEGUN} ({error_text(fault)}). {ASK}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end(error, sys._getframe(1))

    def _name_in(self, frame: FrameType) -> str:
        """Return ``w.report`` for ``with watch() as w:`` at top level; reading a function's variables would copy
        them."""
        names = {} if frame.f_code.co_flags & CO_NEWLOCALS else frame.f_globals
        return next((f"{name}.report" for name, value in list(names.items()) if value is self), "report")

    def end(self, error: BaseException | None, frame: FrameType) -> None:
        """End the block, as ``with`` does.

        Args:
            error: the exception that left the block.
            frame: frame with the names of tensors.
        """
        self._forget()
        if self._fault is not None:
            self.leave()
            self.report = Report(Trace(faults=(self._fault,)))
            return
        last = self.peek(namespace=frame, error=error, last=True) if self._session is not None else None
        report = self._report_of_all(last)
        if self._lost is not None:
            report = replace(report, trace=replace(report.trace, faults=(*report.trace.faults, self._lost)))
        report = self.report = replace(report, origin=self._origin, name=self._name_in(frame))
        note(report)
        if error is not None:
            without_detours(error)
            attach(report, error)
        if self._deliver.save is not None:
            write(report, self._deliver.save, self._show, told=sys.stderr)


def without_detours(error: BaseException) -> None:
    """Remove a watch's entries from a traceback; on an error of ours, leave it unchanged."""
    with suppress(Exception):
        if "torch" in sys.modules:
            from inplace_magic.capture.torch import tracebacks

            tracebacks.without_detours(error)
        if "inplace_magic.capture.paddle.probe" in sys.modules:
            from inplace_magic.capture.paddle.refusals import without_stand_ins

            without_stand_ins(error)


def _not_an_option(name: str) -> str:
    if name in _ELSEWHERE:
        return _(_ELSEWHERE[name])
    return _("watch() has no option {name!r}; it has {options}.").format(
        name=name, options=", ".join(sorted({*WatchOptions.__dataclass_fields__, "schedule", "save", "raw", "graph"}))
    )
