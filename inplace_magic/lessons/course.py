"""All exercises of the course, and who judges an answer."""

from __future__ import annotations

from collections.abc import Callable

from inplace_magic.errors import OptionError
from inplace_magic.language import _
from inplace_magic.lessons import costs, gradients, memory
from inplace_magic.lessons.exercise import Exercise, Feedback, exercises

JUDGES: dict[str, Callable[..., Feedback]] = {
    "1.1": memory.who_holds_fives,
    "1.2": memory.bumped,
    "2.1": memory.name_the_kinds,
    "2.2": memory.doubled,
    "3.1": memory.who_writes,
    "3.2": memory.keep_one,
    "4.1": gradients.which_raise,
    "4.2": gradients.chained,
    "5.1": gradients.saver_and_culprit,
    "6.1": gradients.stepped,
    "8.1": gradients.versions,
    "9.1": costs.which_spare,
    "9.2": costs.frugal,
}
"""A new exercise is a section of ``exercises.md`` and an entry here, or in ``programs.py``."""


def exercise(key: str) -> Exercise:
    """The exercise of that key, e.g. ``"1.2"``.

    Raises:
        OptionError: there is none; the text lists those of the lesson.
    """
    found = exercises()
    if key in found:
        return found[key]
    lesson = str(key).split(".")[0]
    near = [each for each in found if each.split(".")[0] == lesson] or list(found)
    raise OptionError(
        _("There is no exercise {key!r}; there are {keys}.").format(key=key, keys=", ".join(map(repr, near)))
    )


def judge_of(asked: Exercise) -> Callable[..., Feedback]:
    """Who judges an exercise: takes the answers of ``check(key, *answers)``, never an untouched one."""
    if asked.key in JUDGES:
        return JUDGES[asked.key]
    from inplace_magic.lessons.programs import PROGRAMS  # brings torch, which the text of the exercises does without

    program = PROGRAMS[asked.key]
    return lambda function: program.judge(function, asked.solution)
