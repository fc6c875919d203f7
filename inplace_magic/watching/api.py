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
from typing import TYPE_CHECKING, Any

from inplace_magic.errors import InplaceMagicError, OptionError
from inplace_magic.language import N_, _
from inplace_magic.record.options import DeliverOptions, ShowOptions, WatchOptions
from inplace_magic.record.trace import Trace
from inplace_magic.render.deliver import attach, write
from inplace_magic.report import Report
from inplace_magic.watching.last import note
from inplace_magic.watching.recording import ASK, Recording, running_here
from inplace_magic.watching.recording import analyze as analyze  # the other door of the record
from inplace_magic.watching.scheduling import Schedule
from inplace_magic.watching.windows import Windows

if TYPE_CHECKING:
    from inplace_magic.record.origin import Origin

_NOT_BEGUN = "inplace_magic could not begin to watch, and the block ran unwatched"
_ELSEWHERE = {
    "out": N_("watch() has no option `out`, which is for notebooks: after the block the report is `w.report`."),
    "prove": N_("watch() has no option `prove`: after the block `w.report.prove()` tries the fixes."),
    "widget": N_("watch() has no option `widget`: `w.report.to_widget()` gives the live view after the block."),
    "opened": N_("watch() has no option `opened`, which is for notebooks: a saved page shows its sections open."),
}
"""Options of the magic that a script says otherwise."""


class watch(Recording):
    """Watches a block of code: ``with watch() as w: ...``, then ``w.report``.

    An exception that leaves the block takes the finding with it, in its notes.

    Args:
        options: what to record, in one record; or give its fields one by one as keyword arguments, see
            :class:`WatchOptions`.
        schedule: which steps of a long run are watched, see :func:`inplace_magic.schedule`; the program calls
            :meth:`step` after each. Each stretch of watched steps has a report of its own; :attr:`reports` has those in
            which something was found.
        save: a file to write the report to when the block ends, by an exception too; the suffix picks the format,
            ``.html``, ``.svg``, ``.png``, ``.dot``, ``.json`` or ``.csv``. Where it is, or why it could not be written,
            is said in one line on stderr.
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
    """The result; None until the block has ended. Of a watch with a schedule, or one that was paused, the report of
    the stretch that tells most: of the error, else of the worst finding."""
    reports: tuple[Report, ...] = ()
    """The reports of all stretches in which something was found, the worst first, each finding once; empty for a
    watch without a schedule that was never paused."""

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
        """Why the origin is not known, where that is a fault of ours."""
        self._schedule = schedule
        self._step = 0
        self._pauses = 0
        self._windows: Windows | None = None
        self._names: FrameType | None = None
        """The frame that holds the block, in whose sight the names of tensors are, where that is known."""

    def stop(
        self,
        *,
        namespace: Mapping[str, Any] | None = None,
        cells: Mapping[str, int] | None = None,
        error: BaseException | None = None,
        made: Report | None = None,
    ) -> Report:
        """Ends recording and makes the report.

        Args:
            namespace: where to look for the names of tensors (the shell's ``user_ns``).
            cells: execution count by compiled file name, for code that was defined in cells; what the shell of this
                process knows, where it is not given.
            error: what the watched block raised.
            made: what :meth:`peek` gave, where nothing was recorded since.

        Raises:
            InplaceMagicError: the watch was never started.
        """
        if made is None:
            report = self._make_report(namespace, cells, error, last=True)
        else:
            self.leave()
            report = replace(made, trace=self._ended(made.trace))
        self._forget()
        return self._told(report)

    def _forget(self) -> None:
        super()._forget()
        self._names = None

    def _told(self, report: Report | None) -> Report:
        """Return the report of all stretches, the one of the last given."""
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
        """Notes from where the block can be run again; nothing without PyTorch."""
        if "torch" not in sys.modules:
            return
        try:
            from inplace_magic.rerun.blocks import Block  # a file more to load than a watch needs

            self._origin = Block.at(frame)
        except Exception as fault:  # containment: without it no fix can be tried, and the block runs as it is
            self._lost = (
                f"inplace_magic failed while noting where the block begins ({type(fault).__name__}: {fault}). {ASK}"
            )

    def begin(self, frame: FrameType) -> None:
        """What ``with`` does at the block's beginning; for a host that calls :meth:`end`, such as a callback.

        Args:
            frame: the one that holds the block, where the chains of callers end.

        Raises:
            InplaceMagicError: this watch, or another on this thread, is running.
        """
        self._names, self._step, self._pauses = frame, 0, 0
        self._resume = partial(self.start, frame=frame)
        self._windows = None if self._schedule is None else Windows()
        self._take_over()
        self._open()

    def step(self) -> None:
        """One step of the run is over: begins or ends a stretch of watched steps, as the schedule says.

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
        """``with watch.paused():`` what runs in this block is not watched, nor paid for. What comes before it and what
        comes after it are judged for themselves, since nobody knows what happened in between. Without a watch on this
        thread nothing happens."""
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
            self._windows.close(self._make_report(self._names, None, None, last=True))
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
            self._fault = f"{_NOT_BEGUN} ({type(fault).__name__}: {fault}). {ASK}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end(error, sys._getframe(1))

    def _name_in(self, frame: FrameType) -> str:
        """``w.report`` for ``with watch() as w:`` outside of functions, whose variables would be copied to be read."""
        names = {} if frame.f_code.co_flags & CO_NEWLOCALS else frame.f_globals
        return next((f"{name}.report" for name, value in list(names.items()) if value is self), "report")

    def end(self, error: BaseException | None, frame: FrameType) -> None:
        """What ``with`` does at the block's end.

        Args:
            error: what left the block.
            frame: in whose sight the names of tensors are.
        """
        self._forget()
        if self._fault is not None:
            self.leave()
            self.report = Report(Trace(faults=(self._fault,)))
            return
        report = self._told(None if self._session is None else self._make_report(frame, None, error, last=True))
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
    """Takes out of a traceback what a watch put into it; a fault of ours leaves it as it is."""
    with suppress(Exception):
        if "torch" in sys.modules:
            from inplace_magic.capture.torch import tracebacks

            tracebacks.without_detours(error)
        if "inplace_magic.capture.paddle.probe" in sys.modules:
            from inplace_magic.capture.paddle.tracebacks import without_stand_ins

            without_stand_ins(error)


def _not_an_option(name: str) -> str:
    if name in _ELSEWHERE:
        return _(_ELSEWHERE[name])
    return _("watch() has no option {name!r}; it has {options}.").format(
        name=name, options=", ".join(sorted({*WatchOptions.__dataclass_fields__, "schedule", "save", "raw", "graph"}))
    )
