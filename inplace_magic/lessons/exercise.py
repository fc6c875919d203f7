"""The records of the course: an exercise, and what a learner is told about an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Status = Literal["right", "wrong", "open", "hint", "solution"]
"""``open``: there is no answer yet."""


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

    def __repr__(self) -> str:
        from inplace_magic.lessons.card import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from inplace_magic.lessons.card import to_html

        return to_html(self)


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
