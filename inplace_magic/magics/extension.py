"""``%load_ext inplace_magic``: ``%%inplace_watch`` for one cell, ``%inplace_watch on`` for all, ``%inplace_report``.

The cell's first line has become a call of :func:`begin` (see ``cell_transform.py``), which starts the watch; the events
of :class:`~inplace_magic.magics.session.Session` stop it and display the report.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

from IPython.core.error import UsageError

from inplace_magic.language import LANGUAGES, _, set_language
from inplace_magic.magics.cell_transform import MAGIC
from inplace_magic.magics.session import Session
from inplace_magic.magics.unwatched import answer_late, failures_before

EVENTS = ("pre_run_cell", "post_execute", "post_run_cell")

MAGICS = (
    ("cell", "inplace_watch", "watching", "cell_magic"),
    ("line", "inplace_watch", "across_cells", "story_magic"),
    ("line", "inplace_report", "report", "report_magic"),
    ("line", "inplace_config", "config", "config_magic"),
    ("line", "inplace_why", "why", "why_magic"),
    ("line", "inplace_fix", "fix", "fix_magic"),
    ("cell", "inplace_compare", "compare", "compare_magic"),
    ("line", "inplace_compare", "compare", "compare_magic"),
)
"""Kind and name of each magic, and the file of this room and the function in it that make it for a session."""

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
    for kind, name, module, make in MAGICS:
        for table in (shell.magics_manager.magics[kind], vars(shell.magics_manager.user_magics)):
            session.replaced.append((table, name, table.get(name)))
        magic = _late(session, module, make)
        shell.magics_manager.register_function(magic, magic_kind=kind, magic_name=name)
    session.failed.update(failures_before(shell))
    answer_late(shell, session.failed)


def unload(shell: Any) -> None:
    """Leave the shell as it was before :func:`load`. A running watch or story ends and shows its report."""
    session = _sessions.pop(id(shell), None)
    if session is None:
        return
    session.end()
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
    """Start to watch the calling cell; the first line of a ``%%inplace_watch`` cell becomes a call of this function.

    Within a story the cell is already watched, and one line says so.

    Args:
        line: the options, as they were typed.
        key: key of the cell's text, see :class:`WatchLine`.

    Raises:
        UsageError: the cell cannot be watched as asked; IPython shows the sentence and the cell fails without running.
    """
    session = _sessions.get(id(shell))
    if session is None:
        text = _("`{magic}` is not loaded in this shell; run `%load_ext inplace_magic` first.")
        raise UsageError(text.format(magic=MAGIC))
    from inplace_magic.magics import watching

    watching.begin(session, shell.var_expand(line, depth=1), key, sys._getframe(1))


def refuse(problem: str) -> NoReturn:
    """Fails the calling cell with one sentence; a cell that cannot be watched becomes a call of this, and nothing else.

    Raises:
        UsageError: always.
    """
    raise UsageError(problem)


def explain(has_code: bool, /) -> None:
    """Prints the help of ``%%inplace_watch``, and that the code below it was not run, where there is some."""
    from inplace_magic.magics.options import help_of, watch_parser

    print(help_of(watch_parser))
    if has_code:
        print(_("The cell was not run: take --help away to run it."))


def _late(session: Session, module: str, make: str) -> Callable[..., object]:
    """Return a magic whose module is imported at its first call or help: most sessions use few of them."""

    @cache
    def made() -> Callable[..., object]:
        function: Callable[..., object] = getattr(import_module(f"{__package__}.{module}"), make)(session)
        return function

    def magic(line: str, *cell: str) -> object:
        return made()(line, *cell)

    magic.getdoc = lambda: made().__doc__  # type: ignore[attr-defined]  # `?`, tooltips and completion ask this first
    return magic
