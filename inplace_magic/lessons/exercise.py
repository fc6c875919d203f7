"""The records of the course: an exercise, and what a learner is told about an answer, as a card and as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from inplace_magic.language import _
from inplace_magic.render import style
from inplace_magic.render.markup import CARD, CELL, WIDE_CELL, code, esc, prose, table, tag

Status = Literal["right", "wrong", "open", "hint", "solution"]
"""``open``: there is no answer yet."""
_LOOK: dict[Status, tuple[str, tuple[str, str, str]]] = {
    "right": ("✓", style.FINE_COLOURS),
    "wrong": ("✗", style.SEVERITY_COLOURS["warning"]),
    "open": ("…", (style.LINE, style.INK, style.ZEBRA)),
    "hint": ("?", style.SEVERITY_COLOURS["info"]),
    "solution": ("=", style.SEVERITY_COLOURS["info"]),
}
"""Symbol; accent, text colour and tint. A wrong answer is orange and not red: it is no error."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that a line of the learner's code did to a tensor, as the report of the watch has it."""

    place: str
    code: str
    what: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """What ``check``, ``hint`` and ``solution`` give back; a notebook shows it as a card, a terminal as text."""

    status: Status
    title: str
    sentences: tuple[str, ...] = ()
    """In order; backticks mark code."""
    happened: tuple[Happened, ...] = ()
    """What the learner's own lines did, where that explains the answer."""
    code: str = ""
    """A solution."""

    @property
    def passed(self) -> bool:
        return self.status == "right"

    @property
    def _by_line(self) -> list[tuple[Happened, bool]]:
        """What happened, each with whether it is the first of its line."""
        rows = self.happened
        return [(row, not at or rows[at - 1].place != row.place) for at, row in enumerate(rows)]

    def __repr__(self) -> str:
        lines = [f"{_LOOK[self.status][0]} {self.title}"]
        lines += [f"  {sentence}" for sentence in self.sentences]
        for row, first in self._by_line:
            lines += [f"  {row.place}: {row.code}"] if first else []
            lines.append(f"      {row.what}")
        lines += [f"    {line}".rstrip() for line in self.code.splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The feedback as a card that needs neither style sheet nor script."""
        symbol, (accent, ink, tint) = _LOOK[self.status]
        head = tag("b", f"color:{ink}", esc(f"{symbol} {self.title}"))
        body = [tag("p", "margin:6px 0 0 0", prose(sentence)) for sentence in self.sentences]
        if self.happened:
            titles = _("Line"), _("Code"), _("What happened")
            rows = [
                (esc(row.place) if first else "", code(row.code) if first else "", prose(row.what))
                for row, first in self._by_line
            ]
            body.append(tag("div", "margin:8px 0 0 0", table(titles, rows, cells=(CELL, CELL, WIDE_CELL))))
        if self.code:
            css = f"margin:8px 0 0 0;padding:8px;background:{style.CARD};color:{style.INK};overflow-x:auto"
            body.append(tag("pre", css, esc(self.code)))
        css = f"{CARD};background:{tint};border-left:6px solid {accent}"
        return tag("div", css, head, *body, class_="inplace-magic-lesson")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """One exercise, as ``exercises.md`` has it; its texts are English, and looked up when they are shown."""

    key: str
    """Lesson and number, e.g. ``"1.2"``."""
    hints: tuple[str, ...]
    """From a nudge to nearly all."""
    solution: str
    """Code that the judge finds right."""
    because: str
    """Why the solution is one, in a sentence or two."""


@cache
def exercises() -> dict[str, Exercise]:
    """Return all exercises by key, in the order of the course."""
    text = Path(__file__).with_name("exercises.md").read_text(encoding="utf-8")
    return {each.key: each for each in map(_read, re.split(r"^# ", text, flags=re.MULTILINE)[1:])}


def _read(section: str) -> Exercise:
    """Read the section of one exercise: its key, the hints as a list, the solution as code, and why it is one."""
    key, hints, solution, because = re.split(r"\n\n(?=- )|\n\n```python\n|\n```\n\n", section)
    items = tuple(" ".join(hint.split()) for hint in re.split(r"^- ", hints, flags=re.MULTILINE)[1:])
    return Exercise(key=key, hints=items, solution=solution, because=" ".join(because.split()))
