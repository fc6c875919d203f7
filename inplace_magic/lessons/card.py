"""Feedback as something to show: a card in plain tags for the notebook, and text."""

from __future__ import annotations

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback, Happened, Status
from inplace_magic.render import style
from inplace_magic.render.markup import CARD, CELL, WIDE_CELL, code, esc, prose, table, tag

SYMBOL: dict[Status, str] = {"right": "✓", "wrong": "✗", "open": "…", "hint": "?", "solution": "="}
COLOURS: dict[Status, tuple[str, str, str]] = {
    "right": style.FINE_COLOURS,
    "wrong": style.SEVERITY_COLOURS["warning"],
    "open": (style.LINE, style.INK, style.ZEBRA),
    "hint": style.SEVERITY_COLOURS["info"],
    "solution": style.SEVERITY_COLOURS["info"],
}
"""Accent, text colour and tint. A wrong answer is orange and not red: it is no error."""


def to_text(feedback: Feedback) -> str:
    lines = [f"{SYMBOL[feedback.status]} {feedback.title}"]
    lines += [f"  {sentence}" for sentence in feedback.sentences]
    for row, first in _by_line(feedback):
        lines += [f"  {row.place}: {row.code}"] if first else []
        lines.append(f"      {row.what}")
    lines += [f"    {line}".rstrip() for line in feedback.code.splitlines()]
    return "\n".join(lines)


def to_html(feedback: Feedback) -> str:
    """The feedback as a card that needs neither style sheet nor script."""
    accent, ink, tint = COLOURS[feedback.status]
    head = tag("b", f"color:{ink}", esc(f"{SYMBOL[feedback.status]} {feedback.title}"))
    body = [tag("p", "margin:6px 0 0 0", prose(sentence)) for sentence in feedback.sentences]
    if feedback.happened:
        body.append(_rows(feedback))
    if feedback.code:
        css = f"margin:8px 0 0 0;padding:8px;background:{style.CARD};color:{style.INK};overflow-x:auto"
        body.append(tag("pre", css, esc(feedback.code)))
    css = f"{CARD};background:{tint};border-left:6px solid {accent}"
    return tag("div", css, head, *body, class_="inplace-magic-lesson")


def _rows(feedback: Feedback) -> str:
    rows = [
        (esc(row.place), code(row.code), prose(row.what)) if first else ("", "", prose(row.what))
        for row, first in _by_line(feedback)
    ]
    return tag(
        "div",
        "margin:8px 0 0 0",
        table((_("Line"), _("Code"), _("What happened")), rows, cells=(CELL, CELL, WIDE_CELL)),
    )


def _by_line(feedback: Feedback) -> list[tuple[Happened, bool]]:
    """Each row, and whether it is the first of its line."""
    rows = feedback.happened
    return [(row, not at or rows[at - 1].place != row.place) for at, row in enumerate(rows)]
