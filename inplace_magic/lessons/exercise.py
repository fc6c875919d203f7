"""The records of the course: an exercise, and what a learner is told about an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
        """Whether the answer is right."""
        return self.status == "right"

    def __repr__(self) -> str:
        from inplace_magic.lessons.card import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from inplace_magic.lessons.card import to_html

        return to_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """One exercise. Its texts are functions, so that they are looked up in the language of the moment."""

    key: str
    """Lesson and number, e.g. ``"1.2"``."""
    judge: Callable[..., Feedback]
    """Takes the answers of ``check(key, *answers)``, never an untouched one."""
    hints: tuple[Callable[[], str], ...]
    """From a nudge to nearly all."""
    solution: str
    """Code that the judge finds right."""
    because: Callable[[], str]
    """Why the solution is one, in a sentence or two."""
