"""The one place that joins both sides: a capture writes a trace, the read side makes a report of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from threading import get_ident
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from inplace_magic.deliver import attach, write
from inplace_magic.errors import InplaceMagicError, OptionError
from inplace_magic.language import N_, _, use_language
from inplace_magic.record.blindness import GAVE_WAY
from inplace_magic.record.garbage import collection_paused
from inplace_magic.record.options import DeliverOptions, ShowOptions, WatchOptions
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report
from inplace_magic.scheduling import Schedule
from inplace_magic.windows import Windows

if TYPE_CHECKING:
    from inplace_magic.capture.sessions import Sessions
    from inplace_magic.record.origin import Origin

_NOT_BEGUN = "inplace_magic could not begin to watch, and the block ran unwatched"
_FAILED = "inplace_magic could not make the report of this block; the block itself was not affected"
_ASK = "Please report it."
_ELSEWHERE = {
    "out": N_("watch() has no option `out`, which is for notebooks: after the block the report is `w.report`."),
    "prove": N_("watch() has no option `prove`: after the block `w.report.prove()` tries the fixes."),
    "widget": N_("watch() has no option `widget`: `w.report.to_widget()` gives the live view after the block."),
    "opened": N_("watch() has no option `opened`, which is for notebooks: a saved page shows its sections open."),
}
"""Options of the magic that a script says otherwise."""

_of_thread: dict[int, watch] = {}
"""By thread: the watch that began there last, until its block ends or it is stopped."""


class watch:
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
        self.options = options or WatchOptions(**settings)
        self._deliver = DeliverOptions(save=None if save is None else os.fspath(save))
        self._show = ShowOptions(raw=raw, graph=graph)
        self._session: Sessions | None = None
        self._fault: str | None = None
        self._origin: Origin | None = None
        self._lost: str | None = None
        """Why the origin is not known, where that is a fault of ours."""
        self._gave_way = False
        self._gives_way = False
        self._schedule = schedule
        self._step = 0
        self._pauses = 0
        self._windows: Windows | None = None
        self._resume: Callable[[], None] | None = None
        """Begins the next stretch; None while no block runs."""
        self._names: FrameType | None = None
        """The frame that holds the block, in whose sight the names of tensors are, where that is known."""
        self._place: tuple[int | None, str | None, str] = (None, None, "")

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
        """Begins to record on this thread; after :meth:`leave` or :meth:`peek`, goes on.

        Args:
            cell: execution count of the watched cell; None outside a notebook.
            filename: the name under which the cell was compiled (``frame.f_code.co_filename`` of its code).
            source: the cell's text as the user sees it, the magic line first.
            frame: the frame of the watched block, where the chains of callers end; by default the one that runs
                `filename`, now or later, and without a file name the caller's.
            cell_globals: instead of a frame, before a shell runs a cell: the namespace of its cells. The chains of
                callers end at the cell's own lines.
            gives_way: ends where the watched program begins a watch of its own, instead of refusing that.

        Raises:
            InplaceMagicError: this watch, or another on this thread, is running.
        """
        from inplace_magic.capture.sessions import Sessions

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
            self._session = Sessions(self.options)
        if cell_globals is not None:
            self._session.start(None, cell_globals)
            return
        frame = frame or _frame_of(filename)
        if frame is None and filename is not None:
            self._session.start(None, root_file=filename)
        else:
            self._session.start(frame or sys._getframe(1))

    @property
    def began(self) -> bool:
        """Whether it was started, and not stopped."""
        return self._session is not None

    @property
    def recorded(self) -> int:
        """How many calls were recorded so far; cheap, and probes stay as they are."""
        return self._session.recorded if self._session is not None else 0

    def leave(self) -> None:
        """Takes the probes off and keeps what was recorded: :meth:`start` goes on with the same story, :meth:`peek`
        reports on it, :meth:`stop` ends it."""
        if self._session is not None:
            self._session.leave()

    def peek(
        self,
        *,
        namespace: Mapping[str, Any] | FrameType | None = None,
        cells: Mapping[str, int] | None = None,
        error: BaseException | None = None,
    ) -> Report:
        """Takes the probes off and reports on the story so far; :meth:`start` goes on with it. Arguments and errors as
        :meth:`stop`; instead of a namespace the frame in whose sight the names are."""
        return self._make_report(namespace, cells, error, last=False)

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
            cells: execution count by compiled file name, for code that was defined in earlier cells.
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
        self._resume = self._names = None
        if _of_thread.get(get_ident()) is self:
            del _of_thread[get_ident()]

    def _told(self, report: Report | None) -> Report:
        """The report of all stretches, the one of the last given."""
        self._session = None
        if self._windows is not None:
            report = self._windows.end(report)
            self.reports = tuple(self._windows.found)
        self.report = report or analyze(Trace(level=self.options.level))
        return self.report

    @collection_paused()
    def _make_report(
        self,
        namespace: Mapping[str, Any] | FrameType | None,
        cells: Mapping[str, int] | None,
        error: BaseException | None,
        *,
        last: bool,
    ) -> Report:
        if self._session is None:
            raise InplaceMagicError(_("This watch was never started."))
        try:
            self._session.leave()
        except BaseException:  # an interrupt that struck before its first line: it protects itself only from there on
            self._session.leave()
            raise
        from inplace_magic.source.places import Sources

        cell, filename, source = self._place
        live = None
        try:
            error = None if self._gave_way else error  # what came later has nothing to do with what was seen
            trace = self._session.trace(
                sources=Sources(cell, filename, source, cells),
                namespace={} if namespace is None else namespace,
                error=error,
                cell=cell,
                source=source,
                last=last,
            )
            if self._gave_way:
                trace = replace(trace, blindness=(*trace.blindness, GAVE_WAY))
            live = self._session.live()
            if last:
                trace = self._ended(trace)
        except Exception as fault:  # containment: the block's own result or error must come through
            trace = Trace(level=self.options.level, faults=(f"{_FAILED} ({type(fault).__name__}: {fault}). {_ASK}",))
        with use_language(self.options.lang):
            self.report = replace(analyze(trace), live=live)
        return self.report

    def _ended(self, trace: Trace) -> Trace:
        assert self._session is not None
        try:
            self._session.let_go()
        except Exception as fault:  # containment: the record is made, and stands
            told = f"inplace_magic failed while letting go of a watch ({type(fault).__name__}: {fault}). {_ASK}"
            return replace(trace, faults=(*trace.faults, told))
        return trace

    def _take_over(self) -> None:
        """This is the watch of its thread now; one that gives way ends."""
        other = _of_thread.get(get_ident())
        if other is not None and other is not self and other._gives_way:
            other._gave_way = other._session is not None and other._session.active
            other.leave()
        _of_thread[get_ident()] = self

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
                f"inplace_magic failed while noting where the block begins ({type(fault).__name__}: {fault}). {_ASK}"
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
        running = _of_thread.get(get_ident())
        if running is None:
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
            self._fault = f"{_NOT_BEGUN} ({type(fault).__name__}: {fault}). {_ASK}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end(error, sys._getframe(1))

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
        report = self.report = replace(report, origin=self._origin)
        if error is not None:
            without_detours(error)
            attach(report, error)
        if self._deliver.save is not None:
            write(report, self._deliver.save, self._show, told=sys.stderr)


def without_detours(error: BaseException) -> None:
    """Takes out of a traceback what a watch put into it; a fault of ours leaves it as it is."""
    if "torch" not in sys.modules:
        return
    with suppress(Exception):
        from inplace_magic.capture.torch import tracebacks

        tracebacks.without_detours(error)


def _not_an_option(name: str) -> str:
    if name in _ELSEWHERE:
        return _(_ELSEWHERE[name])
    return _("watch() has no option {name!r}; it has {options}.").format(
        name=name, options=", ".join(sorted({*WatchOptions.__dataclass_fields__, "schedule", "save", "raw", "graph"}))
    )


def _frame_of(filename: str | None) -> FrameType | None:
    frame: FrameType | None = sys._getframe(2) if filename is not None else None
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return frame


def analyze(trace: Trace) -> Report:
    """The report of a trace; torch is not needed."""
    with collection_paused():
        return Report.from_trace(trace)
