"""``%inplace_report``: a report shown again, the last one or one by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from IPython.core.error import UsageError

from inplace_magic.language import N_, _, checked, listed
from inplace_magic.magics.cell_transform import MAGIC
from inplace_magic.magics.cells import value_is_used
from inplace_magic.magics.options import Parser, magic_of
from inplace_magic.magics.output import show
from inplace_magic.magics.session import Session
from inplace_magic.record.options import ShowOptions
from inplace_magic.report import Report

NAME = "%inplace_report"
DESCRIPTION = N_("""\
Show a report of %%inplace_watch again: the last one or, with NAME, that of `%%inplace_watch -o NAME`.

`report = %inplace_report` binds it to a variable instead.
""")


def report_parser() -> Parser:
    """Return the parser: the name of a report, and how to show it."""
    parser = Parser(NAME, description=_(DESCRIPTION))
    parser.names.add_argument("name", metavar="NAME", nargs="?", help=_("the variable that holds the report"))
    return parser.with_flags("opened", "lang")


def _shown_again(session: Session, given: dict[str, Any]) -> Report | None:
    report, options = _chosen(session, given.get("name"))
    if "lang" in given:
        report = report.in_language(checked(given["lang"]))
    if "opened" in given:
        options = replace(options, opened=given["opened"])
    if value_is_used(session.shell):
        return report
    show(session.shell, report, options)
    return None


report_magic = magic_of(report_parser, _shown_again)


def _chosen(session: Session, name: str | None) -> tuple[Report, ShowOptions]:
    names = session.shell.user_ns
    if name is None:
        if session.last is None:
            sentence = _("There is no report yet: run a cell with `{magic}` on its first line.")
            raise UsageError(sentence.format(magic=MAGIC))
        return session.last
    if isinstance(names.get(name), Report):
        return names[name], ShowOptions()
    kept = sorted(key for key, value in names.items() if isinstance(value, Report))
    text = (
        _("`{name}` is no report; the reports are: {reports}.")
        if kept
        else _("`{name}` is no report; `{magic} -o {name}` makes one.")
    )
    raise UsageError(text.format(name=name, reports=listed(kept), magic=MAGIC))
