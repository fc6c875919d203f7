"""All exercises of the course, and who judges an answer."""

from __future__ import annotations

from collections.abc import Callable

from inplace_magic.errors import OptionError
from inplace_magic.language import _
from inplace_magic.lessons import l01, l02, l03, l04, l05, l06, l08, l09
from inplace_magic.lessons.exercise import Exercise, Feedback, exercises

JUDGES: dict[str, Callable[..., Feedback]] = {
    "1.1": l01.who_holds_fives,
    "1.2": l01.bumped,
    "2.1": l02.name_the_kinds,
    "2.2": l02.doubled,
    "3.1": l03.who_writes,
    "3.2": l03.keep_one,
    "4.1": l04.which_raise,
    "4.2": l04.chained,
    "5.1": l05.saver_and_culprit,
    "6.1": l06.stepped,
    "8.1": l08.versions,
    "9.1": l09.which_spare,
    "9.2": l09.frugal,
}
"""A new exercise is a section of ``exercises.md`` and an entry here, or a program of ``broken.py`` or ``clinic.py``."""


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
    from inplace_magic.lessons import broken, clinic  # bring torch, which the text of the exercises does without

    if asked.key in JUDGES:
        return JUDGES[asked.key]
    program = (broken.PROGRAMS | clinic.PATIENTS)[asked.key]
    return lambda function: program.judge(function, asked.solution)
