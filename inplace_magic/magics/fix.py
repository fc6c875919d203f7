"""``%inplace_fix``: the corrected cell in a new cell below, and for files the patch. Nothing is run or overwritten."""

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError

from inplace_magic.language import N_, _, listed, ngettext, sentences
from inplace_magic.magics.options import Parser, cell_asked, magic_of
from inplace_magic.magics.rerunning import Cells
from inplace_magic.magics.session import Session
from inplace_magic.report import Report
from inplace_magic.source.hunks import Hunk, agreeing, by_text, changed, patch_of, texts_of

NAME = "%inplace_fix"
DESCRIPTION = N_("""\
Put the fixed cell into a new cell below, from the last report or, with N, from that of Cell In[N].

It runs nothing and overwrites nothing. For files, and for other cells, it prints a patch for `git apply`.
""")


def fix_parser() -> Parser:
    """Return the parser, whose argument is the number of a cell."""
    parser = Parser(NAME, description=_(DESCRIPTION))
    parser.names.add_argument(
        "cell", metavar="N", nargs="?", help=_("the number of the cell (default: the last report)")
    )
    return parser.with_flags()


def _chosen(session: Session, number: int | None) -> Report:
    report = session.by_cell.get(number) if number is not None else session.last[0] if session.last else None
    if report is not None:
        return report
    if number is None:
        raise UsageError(_("There is no report yet: `%inplace_why` makes one of the cell that failed last."))
    text = _("There is no report of Cell In[{number}]: `%inplace_why {number}` makes one.")
    raise UsageError(text.format(number=number))


def _offer(session: Session, given: dict[str, Any]) -> None:
    report = _chosen(session, cell_asked(given, NAME))
    diffs = agreeing(report.trace, [hazard.diff for hazard in report.hazards if hazard.severity in ("error", "silent")])
    changes = by_text(report.trace, diffs) if diffs else None
    if not changes:
        raise UsageError(_("No automatic fix is available; the findings say what to do."))
    texts = texts_of(report.trace)
    own = (report.trace.cell, None)
    cell = own if own in changes else next((whose for whose in changes if whose[1] is None), None)
    if cell is not None:
        text = "\n".join(changed(_as_typed(session.shell, texts[cell], cell[0], changes[cell]), changes[cell]))
        session.shell.set_next_input(text, replace=False)
        lines = [str(hunk.first) for hunk in changes[cell]]
        told = ngettext(
            "inplace_magic: the cell below is Cell In[{cell}] with line {lines} changed.",
            "inplace_magic: the cell below is Cell In[{cell}] with lines {lines} changed.",
            len(lines),
        )
        print(sentences(told.format(cell=cell[0], lines=listed(lines)), _what_to_run(report, cell[0])))
    rest = {whose for whose in changes if whose != cell}
    if rest:
        print(patch_of(report.trace, [diff for diff in diffs if rest & set(by_text(report.trace, [diff]) or ())]))


def _what_to_run(report: Report, cell: int | None) -> str:
    """Which cells take the change: one that made a graph has to make it anew, and one that failed to run once more."""
    ran = [number for number, _text in report.origin.texts] if isinstance(report.origin, Cells) else []
    first = listed([f"Cell In[{number}]" for number in ran if cell is not None and number < cell])
    last = report.trace.cell
    if first:
        return _("Run {cells} again, and then it.").format(cells=first)
    if cell is not None and last is not None and cell < last:
        return _("Run it, and then what follows it again, up to Cell In[{cell}].").format(cell=last)
    return _("Run it to take the change.")


def _as_typed(shell: Any, lines: tuple[str, ...], number: int | None, changes: list[Hunk]) -> tuple[str, ...]:
    """Return the lines of another cell with its magics as they were typed, and not as Python; where the lines that
    change are the same in both."""
    history = shell.history_manager.input_hist_raw
    typed = tuple(history[number].splitlines()) if number is not None and 0 < number < len(history) else ()
    same = len(typed) == len(lines) and all(
        typed[hunk.first - 1 : hunk.first - 1 + len(hunk.old)] == hunk.old for hunk in changes
    )
    return typed if same else lines


fix_magic = magic_of(fix_parser, _offer)
