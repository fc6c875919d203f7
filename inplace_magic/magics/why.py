"""``%inplace_why``: why the last cell failed, though nobody watched it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from inplace_magic import flags
from inplace_magic.errors import CompareError
from inplace_magic.flags import Options
from inplace_magic.language import N_, _, use_language
from inplace_magic.magics.explaining import explained, not_again
from inplace_magic.magics.options import Parser, cell_asked, line_magic
from inplace_magic.magics.output import runs_shown

if TYPE_CHECKING:
    from inplace_magic.magics.session import Session

NAME = "%inplace_why"
DESCRIPTION = N_("""\
Say why a cell failed that was not watched: which line did it, and a fix with what trying it showed.

The cell runs again, watched, on copies of everything that it reads; if an earlier cell built the graph, that one runs
before it, on the same copies. Your own variables, gradients, generators and files stay as they are. What would write
files, run commands or use the network is not done again, unless you say --yes.
""")
EXAMPLE = N_("""\
examples:
  %inplace_why
  %inplace_why 7 -o report
""")


def why_parser() -> Parser:
    """The number of a cell, and how its report is shown."""
    parser = Parser(NAME, description=_(DESCRIPTION), epilog=_(EXAMPLE), argument_default=argparse.SUPPRESS)
    parser.names.add_argument(
        "cell", metavar="N", nargs="?", help=_("the number of the cell (default: the last failure)")
    )
    add = parser.options.add_argument
    add("--yes", action="store_true", help=_("do again what the cell does to files, processes and the network"))
    flags.add(parser.options, "out", "opened", "lang")
    parser.add_help_option()
    return parser


def why_magic(session: Session) -> Callable[[str], None]:
    """The line magic ``%inplace_why``."""

    def inplace_why(given: dict[str, Any]) -> None:
        if session.story is not None or session.active is not None:
            raise UsageError(
                _("`{magic}` cannot run while another watch is on; `%inplace_watch off` ends it.").format(magic=NAME)
            )
        number = _chosen(session, cell_asked(given, NAME))
        allowed = given.pop("yes", False)
        try:
            options = Options.of({**session.defaults, **given})
            with use_language(options.watch.lang):
                _explain(session, number, options, allowed=allowed)
        except CompareError as error:
            raise UsageError(f"{NAME[1:]}: {error}") from None

    return line_magic(why_parser, inplace_why)


def _chosen(session: Session, number: int | None) -> int:
    """Return the cell that is asked about: the one named, else the last that failed with an error that a watch
    explains, else the last that failed."""
    if number is not None:
        return number
    if not session.failed:
        raise UsageError(
            _("No unwatched cell of this session has failed. `%inplace_why N` runs Cell In[N] again, watched.")
        )
    newest = next(reversed(session.failed))
    known = [number for number, failed in session.failed.items() if failed.explained]
    if known and known[-1] != newest:
        told = _(
            "inplace_magic: this is about Cell In[{number}]. Cell In[{newest}] failed later, for a reason of another "
            "kind ({error}); `%inplace_why {newest}` asks about it."
        )
        print(told.format(number=known[-1], newest=newest, error=session.failed[newest].error))
    return known[-1] if known else newest


def _explain(session: Session, number: int, options: Options, *, allowed: bool) -> None:
    from inplace_magic.rerun.guard import Repeated, done_again

    errors = {cell: failed.error for cell, failed in session.failed.items()}
    try:
        with runs_shown(NAME, session.shell), done_again() as done:
            outcome = explained(session.shell, number, errors, allowed=allowed)
    except Repeated as stopped:
        told = _("Cell In[{number}] was not run to its end again: {what}. `%inplace_why {number} --yes` does it again.")
        raise UsageError(told.format(number=number, what=stopped.sentence)) from None
    except KeyboardInterrupt:
        print(_("inplace_magic: interrupted; your variables are as they were."))
        return
    for what, count in done.items():
        told = _("inplace_magic: done again while fixes were tried, as `--yes` allows: {what} ({count} times).")
        print(told.format(what=what, count=count))
    report, failed = outcome.report, session.failed.get(number)
    if failed is not None and (said := not_again(outcome, failed.error)):
        print(said)
    elif len(outcome.cells.texts) > 1:
        ran = ", ".join(f"Cell In[{each}]" for each, _text in outcome.cells.texts)
        print(_("inplace_magic: run again on copies, in this order: {cells}.").format(cells=ran))
    session.deliver(report, options)
