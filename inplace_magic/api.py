"""The one place that joins both sides: a capture writes a trace, the read side makes a report of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
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

if TYPE_CHECKING:
    from inplace_magic.capture.session import Session
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

_giving_way: dict[int, tuple[watch, ...]] = {}
"""By thread: the watch there that ends where another begins; none, or one."""


class watch:
    """Watches a block of code: ``with watch() as w: ...``, then ``w.report``.

    An exception that leaves the block takes the finding with it, in its notes.

    Args:
        options: what to record, in one record; or give its fields one by one as keyword arguments, see
            :class:`WatchOptions`.
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
    """The result; None until the block has ended."""

    def __init__(
        self,
        options: WatchOptions | None = None,
        *,
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
        self._session: Session | None = None
        self._fault: str | None = None
        self._origin: Origin | None = None
        self._gave_way = False
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
        from inplace_magic.capture.session import Session

        if self._session is not None and self._session.active:
            raise InplaceMagicError(_("This watch is running already."))
        self._place = (cell, filename, source)
        for outer in _giving_way.pop(get_ident(), ()):
            outer._gave_way = outer._session is not None and outer._session.active
            outer.leave()
        if gives_way:
            _giving_way[get_ident()] = (self,)
        if self._session is None:
            self._session = Session(self.options)
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
        if self in _giving_way.get(get_ident(), ()):
            del _giving_way[get_ident()]
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
    ) -> Report:
        """Ends recording and makes the report.

        Args:
            namespace: where to look for the names of tensors (the shell's ``user_ns``).
            cells: execution count by compiled file name, for code that was defined in earlier cells.
            error: what the watched block raised.

        Raises:
            InplaceMagicError: the watch was never started.
        """
        report = self._make_report(namespace, cells, error, last=True)
        self._session = None
        return report

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

    def __enter__(self) -> watch:
        frame = sys._getframe(1)
        try:
            self.start(frame=frame)
            from inplace_magic.rerun.blocks import Block  # after it: a file more to load than a watch needs

            self._origin = Block.at(frame)
        except InplaceMagicError:
            raise
        except Exception as fault:  # containment: a fault of ours must not keep the user's block from running
            self._fault = f"{_NOT_BEGUN} ({type(fault).__name__}: {fault}). {_ASK}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._fault is not None:
            self.leave()
            self.report = Report(Trace(faults=(self._fault,)))
            return
        report = replace(self._make_report(sys._getframe(1), None, error, last=True), origin=self._origin)
        self.report, self._session = report, None
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
        name=name, options=", ".join(sorted({*WatchOptions.__dataclass_fields__, "save", "raw", "graph"}))
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
