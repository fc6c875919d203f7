"""All exercises of the course, by lesson."""

from __future__ import annotations

from inplace_magic.errors import OptionError
from inplace_magic.language import _
from inplace_magic.lessons import l01, l02, l03, l04, l05, l06, l07, l08, l09, l10
from inplace_magic.lessons.exercise import Exercise

LESSONS: tuple[tuple[Exercise, ...], ...] = (
    l01.EXERCISES,
    l02.EXERCISES,
    l03.EXERCISES,
    l04.EXERCISES,
    l05.EXERCISES,
    l06.EXERCISES,
    l07.EXERCISES,
    l08.EXERCISES,
    l09.EXERCISES,
    l10.EXERCISES,
)
"""A new lesson is a module with ``EXERCISES`` and an entry here."""


def exercise(key: str) -> Exercise:
    """The exercise of that key, e.g. ``"1.2"``.

    Raises:
        OptionError: there is none; the text lists those of the lesson.
    """
    found = {each.key: each for lesson in LESSONS for each in lesson}
    if key in found:
        return found[key]
    lesson = str(key).split(".")[0]
    near = [each for each in found if each.split(".")[0] == lesson] or list(found)
    raise OptionError(
        _("There is no exercise {key!r}; there are {keys}.").format(key=key, keys=", ".join(map(repr, near)))
    )
