"""``%inplace_why``: explain why the last unwatched cell failed."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError

from inplace_magic.errors import CompareError
from inplace_magic.flags import Options
from inplace_magic.language import N_, _, use_language
from inplace_magic.magics.options import Parser, cell_asked, magic_of
from inplace_magic.magics.output import runs_shown
from inplace_magic.magics.session import Session

NAME = "%inplace_why"
DESCRIPTION = N_("""\
Explain why an unwatched cell failed: the line that caused it, and a fix that was tried.

The cell runs again, watched, on copies of everything that it reads. An earlier cell that built its graph runs before
it, on the same copies. Your own variables, gradients, generators and files stay as they are. The run stops before it
writes files, runs commands or uses the network, unless you add --yes.
""")
EXAMPLE = N_("""\
examples:
  %inplace_why
  %inplace_why 7 -o report
""")


def why_parser() -> Parser:
    """Return the parser: the number of a cell, and how to show its report."""
    parser = Parser(NAME, description=_(DESCRIPTION), epilog=_(EXAMPLE))
    parser.names.add_argument(
        "cell", metavar="N", nargs="?", help=_("the number of the cell (default: the last failure)")
    )
    add = parser.options.add_argument
    add("--yes", action="store_true", help=_("let the cell use files, processes and the network again"))
    return parser.with_flags("out", "opened", "lang")


def _asked(session: Session, given: dict[str, Any]) -> None:
    session.must_be_idle(NAME)
    number = _chosen(session, cell_asked(given, NAME))
    allowed = given.pop("yes", False)
    try:
        options = Options.of({**session.defaults, **given})
        with use_language(options.watch.lang):
            _explain(session, number, options, allowed=allowed)
    except CompareError as error:
        raise UsageError(f"{NAME[1:]}: {error}") from None


why_magic = magic_of(why_parser, _asked)


def _chosen(session: Session, number: int | None) -> int:
    """Return the cell in question: the named one, else the last that failed with an error that a watch explains, else
    the last that failed."""
    if number is not None:
        return number
    if not session.failed:
        raise UsageError(
            _("No unwatched cell of this session has failed. `%inplace_why N` runs Cell In[N] again, watched.")
        )
    newest = next(reversed(session.failed))
    known = [number for number, failed in session.failed.items() if failed.explained]
    if known and known[-1] != newest:
        text = _(
            "inplace_magic: this is about Cell In[{number}]. Cell In[{newest}] failed later, for a reason of another "
            "kind ({error}); `%inplace_why {newest}` asks about it."
        )
        print(text.format(number=known[-1], newest=newest, error=session.failed[newest].error))
    return known[-1] if known else newest


def _explain(session: Session, number: int, options: Options, *, allowed: bool) -> None:
    from inplace_magic.magics.explaining import explained, not_again  # brings torch, which help must not
    from inplace_magic.rerun.guard import Repeated, done_again

    errors = {cell: failed.error for cell, failed in session.failed.items()}
    try:
        with runs_shown(NAME, session.shell), done_again() as done:
            report, cells = explained(session.shell, number, errors, allowed=allowed)
    except Repeated as stopped:
        text = _("Cell In[{number}] did not run to its end again: {what}. `%inplace_why {number} --yes` allows it.")
        raise UsageError(text.format(number=number, what=stopped.sentence)) from None
    except KeyboardInterrupt:
        print(_("inplace_magic: interrupted; your variables are as they were."))
        return
    for what, count in done.items():
        text = _("inplace_magic: while trying fixes, as `--yes` allows: {what} ({count} times).")
        print(text.format(what=what, count=count))
    failed = session.failed.get(number)
    if failed is not None and (said := not_again(report, cells, failed.error)):
        print(said)
    elif len(cells.texts) > 1:
        ran = ", ".join(f"Cell In[{each}]" for each, _text in cells.texts)
        print(_("inplace_magic: run again on copies, in this order: {cells}.").format(cells=ran))
    session.deliver(report, options)
