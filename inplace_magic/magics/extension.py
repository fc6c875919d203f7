"""``%load_ext inplace_magic``: ``%%inplace_watch`` for one cell, ``%inplace_watch on`` for all, ``%inplace_report``.

The cell's first line has become a call of :func:`begin` (see ``cell_transform.py``), which starts the watch; the events
of :class:`~inplace_magic.magics.session.Session` stop it and display the report.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from IPython.core.error import UsageError

from inplace_magic.deliver import complain
from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import LANGUAGES, _, set_language
from inplace_magic.magics.across_cells import story_magic, switch_off
from inplace_magic.magics.cell_transform import MAGIC
from inplace_magic.magics.cells import cell_number, run_text
from inplace_magic.magics.compare import compare_magic
from inplace_magic.magics.config import config_magic
from inplace_magic.magics.fix import fix_magic
from inplace_magic.magics.options import help_of, parse_options, watch_parser
from inplace_magic.magics.report import report_magic
from inplace_magic.magics.rerunning import Cells, remembered
from inplace_magic.magics.session import Active, Session, finish
from inplace_magic.magics.why import why_magic

EVENTS = ("pre_run_cell", "post_execute", "post_run_cell")

_sessions: dict[int, Session] = {}
"""By the shell's ``id``; a session holds its shell, so no ``id`` comes twice."""


def load(shell: Any) -> None:
    """Adds ``%%inplace_watch``, ``%inplace_watch``, ``%inplace_report``, ``%inplace_config`` and ``%%inplace_compare``.

    A second time changes nothing.
    """
    if id(shell) in _sessions:
        return
    session = _sessions[id(shell)] = Session(shell)
    # First, before IPython drops leading blank lines: the transformer needs the gutter's numbers.
    shell.input_transformers_cleanup.insert(0, session.transform)
    for event in EVENTS:
        shell.events.register(event, getattr(session, event))
    _register(session, "cell", "inplace_watch", _cell_magic(session))
    _register(session, "line", "inplace_watch", story_magic(session))
    _register(session, "line", "inplace_report", report_magic(session))
    _register(session, "line", "inplace_config", config_magic(session))
    _register(session, "line", "inplace_why", why_magic(session))
    _register(session, "line", "inplace_fix", fix_magic(session))
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
    origin = Cells(shell, ((cell, source),))
    if options.deliver.prove:
        origin = remembered(origin)
    session.active = Active(watch(options.watch), options, owner, f"Cell In[{cell}]", origin)
    try:
        session.active.watch.start(cell=cell, filename=filename, source=source, frame=frame)
        session.tracebacks.on()
    except InplaceMagicError as error:
        session.active = None
        raise UsageError(str(error)) from None
    except Exception as error:  # a boundary: our fault must not cost the user the cell
        session.active = None
        complain(_("this cell runs unwatched, because the watch could not start"), error)


def refuse(problem: str) -> NoReturn:
    """Fails the calling cell with one sentence; a cell that cannot be watched becomes a call of this, and nothing else.

    Raises:
        UsageError: always.
    """
    raise UsageError(problem)


def explain(has_code: bool, /) -> None:
    """Prints the help of ``%%inplace_watch``, and that the code below it was not run, where there is some."""
    print(help_of(watch_parser))
    if has_code:
        print(_("The cell was not run: take --help away to run it."))


def _cell_magic(session: Session) -> Callable[[str, str], None]:
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

    inplace_watch.__doc__ = help_of(watch_parser)
    return inplace_watch


def _register(session: Session, kind: str, name: str, function: Callable[..., object]) -> None:
    manager = session.shell.magics_manager
    for table in (manager.magics[kind], vars(manager.user_magics)):
        session.replaced.append((table, name, table.get(name)))
    manager.register_function(function, magic_kind=kind, magic_name=name)
