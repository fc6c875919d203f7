"""``%load_ext inplace_magic``: ``%%inplace_watch`` for one cell, ``%inplace_watch on`` for all, ``%inplace_report``.

The cell's first line has become a call of :func:`begin` (see ``cell_transform.py``), which starts the watch. IPython's
``post_run_cell`` event stops it and displays the report, after the cell's own output and its own traceback.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError

from inplace_magic.deliver import complain, write
from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import LANGUAGES, _, set_language
from inplace_magic.magics.across_cells import CellStory, begin_cell, story_magic, switch_off
from inplace_magic.magics.cell_transform import MAGIC, WatchLine
from inplace_magic.magics.cells import cell_number, cell_numbers, run_text
from inplace_magic.magics.compare import compare_magic
from inplace_magic.magics.config import config_magic
from inplace_magic.magics.hint import HINT, is_explained
from inplace_magic.magics.options import CellOptions, parse_options, watch_parser
from inplace_magic.magics.output import show, show_widget
from inplace_magic.magics.report import report_magic
from inplace_magic.magics.tracebacks import ShortTracebacks
from inplace_magic.record.options import ShowOptions

if TYPE_CHECKING:
    from inplace_magic.api import watch
    from inplace_magic.report import Report

EVENTS = ("pre_run_cell", "post_execute", "post_run_cell")


@dataclass(frozen=True, slots=True)
class _Active:
    watch: watch
    options: CellOptions
    owner: object
    """What ends the watch: the ``ExecutionInfo`` of the running cell, or one call of the cell magic."""
    place: str
    report: Report | None = None
    """Where an error left the cell, made before IPython printed its traceback."""


@dataclass(slots=True, eq=False)
class _Session:
    """What one shell has of ours, from ``load`` to ``unload``."""

    shell: Any
    transform: WatchLine = field(default_factory=WatchLine)
    tracebacks: ShortTracebacks = field(init=False)
    running: list[Any] = field(default_factory=list)
    """The cells that are running now, the innermost last: a cell can run another one by ``run_cell``."""
    active: _Active | None = None
    story: CellStory | None = None
    """Between ``%inplace_watch on`` and ``off``."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """What ``%inplace_config`` set for the watches to come."""
    last: tuple[Report, ShowOptions] | None = None
    replaced: list[tuple[dict[str, Any], str, Any]] = field(default_factory=list)
    """Entries of the shell's magic tables that ours stand in for, to be put back."""

    def __post_init__(self) -> None:
        self.tracebacks = ShortTracebacks(self.shell, self.verdict_on, self.transform.typed)

    def pre_run_cell(self, info: Any) -> None:
        if not self.running and self.active is not None:
            finish(self, None)  # its own post_run_cell never came; the next cell must not be watched by it
        if not self.running and self.story is not None:
            begin_cell(self.story)
        self.running.append(info)

    def post_execute(self) -> None:
        # A cell whose beginning was not announced switched the story on. If it runs silently, its end is not either.
        if not self.running and self.story is not None:
            self.story.leave()

    def post_run_cell(self, result: Any) -> None:
        owner = self._leave(getattr(result, "info", None))
        raised = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
        if self.active is not None:
            if self.active.owner is owner:
                finish(self, raised)
        elif self.story is not None and self.story.cell_open:
            if not self.running:
                self.story.end_cell(raised)
        elif is_explained(raised):
            print(_(HINT))

    def verdict_on(self, error: BaseException) -> str:
        """What a watched cell's report says of the error that left it, in one line; empty where it explains nothing."""
        active = self.active
        if active is None or not self.running or self.running[-1] is not active.owner:
            return ""
        report = stopped(self, active, error)
        if report is None:
            self.active = None
            return ""
        self.active = replace(active, report=report)
        try:
            from inplace_magic.render.verdict import explanation

            return explanation(report)
        except Exception as fault:  # a boundary: the user's traceback is printed whatever becomes of ours
            complain(_("the report could not be displayed"), fault)
            return ""

    def can_begin(self) -> None:
        """Refuses a story inside a cell that is watched on its own."""
        if self.active is not None:
            raise UsageError(
                _("`{magic}` watches this cell; write `%inplace_watch on` into a cell of its own.").format(magic=MAGIC)
            )

    def keep(self, report: Report, options: CellOptions) -> None:
        """Makes a report the last one and binds it to the ``--out`` name."""
        self.last = report, options.show
        if options.deliver.out is not None:
            self.shell.user_ns[options.deliver.out] = report

    def deliver(self, report: Report, options: CellOptions) -> None:
        """Keeps a report, displays it and writes ``--save``."""
        self.keep(report, options)
        show(self.shell, report, options.show, beside_widget=options.deliver.widget is not None)
        if options.deliver.widget is not None:
            show_widget(self.shell, report, options.deliver.widget)
        if options.deliver.save is not None:
            write(report, options.deliver.save, options.show)

    def _leave(self, info: Any) -> Any:
        """Takes the cell that ended off the list.

        It is found by identity, not by depth, since IPython announces the end of cells whose beginning it did not
        announce: a blank cell, and the one with ``%load_ext``. When an exception such as Ctrl-C leaves the cell's
        coroutine, IPython announces it with another ``ExecutionInfo`` of the same text, ipykernel with None.
        """
        for index, cell in enumerate(self.running):
            if cell is info:
                return self.running.pop(index)
        if self.running and (info is None or getattr(self.running[-1], "raw_cell", None) == info.raw_cell):
            return self.running.pop()
        return None


_sessions: dict[int, _Session] = {}
"""By the shell's ``id``; a session holds its shell, so no ``id`` comes twice."""


def load(shell: Any) -> None:
    """Adds ``%%inplace_watch``, ``%inplace_watch``, ``%inplace_report``, ``%inplace_config`` and ``%%inplace_compare``.

    A second time changes nothing.
    """
    if id(shell) in _sessions:
        return
    session = _sessions[id(shell)] = _Session(shell)
    # First, before IPython drops leading blank lines: the transformer needs the gutter's numbers.
    shell.input_transformers_cleanup.insert(0, session.transform)
    for event in EVENTS:
        shell.events.register(event, getattr(session, event))
    _register(session, "cell", "inplace_watch", _cell_magic(session))
    _register(session, "line", "inplace_watch", story_magic(session))
    _register(session, "line", "inplace_report", report_magic(session))
    _register(session, "line", "inplace_config", config_magic(session))
    for kind in ("cell", "line"):
        _register(session, kind, "inplace_compare", compare_magic(session))


def unload(shell: Any) -> None:
    """Leaves the shell as it was before :func:`load`. A watch or a story that is on ends, and its report is shown."""
    session = _sessions.pop(id(shell), None)
    if session is None:
        return
    finish(session, None)
    if session.story is not None:
        switch_off(session)
    set_language(LANGUAGES[0])
    transformers = shell.input_transformers_cleanup
    if session.transform in transformers:
        transformers.remove(session.transform)
    for event in EVENTS:
        callback = getattr(session, event)
        if callback in shell.events.callbacks[event]:
            shell.events.unregister(event, callback)
    for table, name, earlier in reversed(session.replaced):
        if earlier is None:
            table.pop(name, None)
        else:
            table[name] = earlier


def begin(shell: Any, line: str, key: str) -> None:
    """Starts to watch the calling cell; the first line of a ``%%inplace_watch`` cell becomes a call of this.

    Within a story the cell is watched already, and one line says so.

    Args:
        shell: the shell that runs the cell.
        line: the options, as they were typed.
        key: under which the cell's text is kept, see :class:`WatchLine`.

    Raises:
        UsageError: the cell cannot be watched as asked; IPython shows the sentence and the cell fails without running.
    """
    session = _sessions.get(id(shell))
    if session is None:
        raise UsageError(
            _("`{magic}` is not loaded in this shell; run `%load_ext inplace_magic` first.").format(magic=MAGIC)
        )
    options = parse_options(shell.var_expand(line, depth=1), defaults=session.defaults)
    if not session.running:
        raise UsageError(
            _("`{magic}` cannot watch a cell that runs silently; run it with silent=False.").format(magic=MAGIC)
        )
    if session.active is not None:
        raise UsageError(
            _("This cell cannot be watched: the watch of {place} is still running.").format(place=session.active.place)
        )
    if session.story is not None and session.story.cell_open:
        print(
            _(
                "inplace_magic: this cell is watched already, by `%inplace_watch on` in {place}; after "
                "`%inplace_watch off`, `{magic}` gives it a report of its own."
            ).format(place=session.story.since, magic=MAGIC)
        )
        return
    from inplace_magic.api import watch  # brings torch, which %load_ext must not

    owner = session.running[-1]
    frame = sys._getframe(1)
    filename = frame.f_code.co_filename
    cell = cell_number(shell, owner, filename)
    source = session.transform.source(key) or "".join(linecache.getlines(filename))
    session.active = _Active(watch(options.watch), options, owner, f"Cell In[{cell}]")
    try:
        session.active.watch.start(cell=cell, filename=filename, source=source, frame=frame)
        session.tracebacks.on()
    except InplaceMagicError as error:
        session.active = None
        raise UsageError(str(error)) from None
    except Exception as error:  # a boundary: our fault must not cost the user the cell
        session.active = None
        complain(_("this cell runs unwatched, because the watch could not start"), error)


def finish(session: _Session, raised: BaseException | None) -> None:
    """Ends the active watch: keeps the report, binds it to the ``--out`` name, displays it and writes ``--save``.

    Args:
        session: whose watch ends; without an active one nothing happens.
        raised: what the cell raised.
    """
    active, session.active = session.active, None
    if active is None:
        return
    session.tracebacks.off()
    report = active.report or stopped(session, active, raised)
    if report is not None:
        session.deliver(report, active.options)


def stopped(session: _Session, active: _Active, raised: BaseException | None) -> Report | None:
    """Ends a watch and makes its report; None, and a line that says so, where that failed."""
    shell = session.shell
    try:
        return active.watch.stop(namespace=shell.user_ns, cells=cell_numbers(shell), error=raised)
    except Exception as error:  # a boundary: the cell has its result already, and keeps it
        complain(_("the cell was watched, but no report could be made"), error)
        return None


def refuse(problem: str) -> NoReturn:
    """Fails the calling cell with one sentence; a cell that cannot be watched becomes a call of this, and nothing else.

    Raises:
        UsageError: always.
    """
    raise UsageError(problem)


def explain(has_code: bool, /) -> None:
    """Prints the help of ``%%inplace_watch``, and that the code below it was not run, where there is some."""
    print(watch_parser().format_help())
    if has_code:
        print(_("The cell was not run: take --help away to run it."))


def _cell_magic(session: _Session) -> Callable[[str, str], None]:
    """The registered magic, for ``?`` and completion, and for cells that the input transformer did not see.

    Those are ``get_ipython().run_cell_magic(...)``, as scripts exported from notebooks have it, and cells pasted with
    prompts.
    """

    def inplace_watch(line: str, cell: str) -> None:
        owner = object()
        session.running.append(owner)
        raised: BaseException | None = None
        try:
            run_text(session.shell, f"{MAGIC} {line}\n{cell}")
        except BaseException as error:
            raised = error
            raise
        finally:
            session.running.remove(owner)
            if session.active is not None and session.active.owner is owner:
                finish(session, raised)
            del raised  # it holds this frame through its traceback

    inplace_watch.__doc__ = watch_parser().format_help()
    return inplace_watch


def _register(session: _Session, kind: str, name: str, function: Callable[..., None]) -> None:
    manager = session.shell.magics_manager
    for table in (manager.magics[kind], vars(manager.user_magics)):
        session.replaced.append((table, name, table.get(name)))
    manager.register_function(function, magic_kind=kind, magic_name=name)
