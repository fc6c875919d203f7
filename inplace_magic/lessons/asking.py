"""The three functions that a learner calls, over all exercises of the course.

A new exercise is a section of ``exercises.md``, and an entry in one of the tables of judges or in ``programs.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from inplace_magic.errors import OptionError
from inplace_magic.language import _
from inplace_magic.lessons.exercise import Exercise, Feedback, exercises
from inplace_magic.lessons.judging import NotYet


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
    text = _("There is no exercise {key!r}; there are {keys}.")
    raise OptionError(text.format(key=key, keys=", ".join(map(repr, near))))


def judge_of(asked: Exercise) -> Callable[..., Feedback]:
    """Who judges an exercise: takes the answers of ``check(key, *answers)``, never an untouched one."""
    from inplace_magic.lessons import gradients, memory, programs  # bring torch, which no text here needs

    judges = {**memory.JUDGES, **gradients.JUDGES}
    if asked.key in judges:
        return judges[asked.key]
    program = programs.PROGRAMS[asked.key]
    return lambda function: program.judge(function, asked.solution)


def check(key: str, *answers: Any) -> Feedback:
    """What is right or wrong about an answer, and why; code is run under a watch to see what it does.

    Args:
        key: the exercise, e.g. ``"1.2"``.
        answers: what the exercise asks for; an ellipsis, or a function of which nothing but the ellipsis is there,
            counts as not answered yet.

    Raises:
        OptionError: there is no such exercise, or it takes another number of answers.
        InplaceMagicError: a watch is running already, such as that of the cell; check in a cell of its own.
    """
    judge = judge_of(exercise(key))
    wanted = len(inspect.signature(judge).parameters)
    if len(answers) != wanted:
        text = _("Exercise {key} takes {wanted} answers, and got {given}: see the cell of the exercise.")
        raise OptionError(text.format(key=key, wanted=wanted, given=len(answers)))
    if any(map(_untouched, answers)):
        title = _("Exercise {key} is waiting for you.").format(key=key)
        text = _('Put your answer in place of the `...` and run the cell again. `hint("{key}")` gives you a nudge.')
        return Feedback("open", title, (text.format(key=key),))
    try:
        return judge(*answers)
    except NotYet as early:
        return early.feedback


def hint(key: str, number: int = 1) -> Feedback:
    """A hint; each exercise has a few, from a nudge to nearly all.

    Args:
        key: the exercise, e.g. ``"1.2"``.
        number: which one; after the last one, the last.

    Raises:
        OptionError: there is no such exercise, or the number is no count.
    """
    hints = exercise(key).hints
    if not isinstance(number, int) or number < 1:
        raise OptionError(_("hint({key!r}, {number!r}): hints are counted from 1.").format(key=key, number=number))
    shown = min(number, len(hints))
    sentences = [_(hints[shown - 1])]
    if shown < len(hints):
        sentences.append(_('The next one: `hint("{key}", {number})`.').format(key=key, number=shown + 1))
    title = _("Hint {number} of {count} for exercise {key}").format(number=shown, count=len(hints), key=key)
    return Feedback("hint", title, tuple(sentences))


def solution(key: str) -> Feedback:
    """A solution, and why it is one.

    Raises:
        OptionError: there is no such exercise.
    """
    asked = exercise(key)
    title = _("A solution of exercise {key}").format(key=key)
    return Feedback("solution", title, (_(asked.because),), code=asked.solution)


def _untouched(answer: Any) -> bool:
    if answer is ... or answer is None:
        return True
    if isinstance(answer, dict):
        return any(_untouched(value) for value in answer.values())
    if isinstance(answer, (list, tuple, set)):
        return any(value is ... for value in answer)
    return callable(answer) and _does_nothing(answer)


def _does_nothing(function: Callable[..., Any]) -> bool:
    """Whether the body is a docstring and an ellipsis at most: then its code is that of an empty function."""
    code = getattr(function, "__code__", None)
    empty = _empty_with_docstring.__code__ if getattr(function, "__doc__", None) else _empty.__code__
    return code is not None and code.co_code == empty.co_code


def _empty() -> None: ...


def _empty_with_docstring() -> None:
    """A body without code."""
