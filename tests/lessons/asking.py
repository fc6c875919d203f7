"""Answering exercises as a learner does: in the cell of the exercise, in a real shell."""

from __future__ import annotations

import re
from typing import Any

from cells import run_cell
from lessons.texts import CHECK, exercise_cells, first_cell
from lessons.wrong_answers import ANSWERS, CHANGES

from inplace_magic.lessons.asking import exercise
from inplace_magic.lessons.exercise import Feedback


def begin(shell: Any, lesson: str) -> None:
    """Runs the lesson's first cell, without the lines that install."""
    told = run_cell(shell, first_cell(lesson))
    assert told.error is None


def answered(shell: Any, source: str) -> Feedback:
    """What the learner is told by a cell that ends in a check."""
    ran = run_cell(shell, source)
    assert ran.error is None, ran.error
    assert isinstance(ran.result.result, Feedback)
    return ran.result.result


def untouched(shell: Any, key: str) -> Feedback:
    """What the cell of an exercise says as it stands."""
    return answered(shell, _cell(key))


def answer(shell: Any, key: str, given: str) -> Feedback:
    """What the cell says after the learner gave this answer: ``answer = …``, or a definition."""
    asking = CHECK.search(_cell(key))
    assert asking is not None
    return answered(shell, f"{_cell(key)[: asking.start()]}\n{given}\n\n{asking.group()}")


def changed(shell: Any, key: str, *changes: tuple[str, str]) -> Feedback:
    """What the cell says after parts of its program were replaced by others."""
    cell = _cell(key)
    for old, new in changes:
        assert old in cell
        cell = cell.replace(old, new)
    return answered(shell, cell)


def mistaken(shell: Any, key: str) -> Feedback:
    """What the cell says of the exercise's typical mistake."""
    if key in ANSWERS:
        return answer(shell, key, ANSWERS[key])
    return changed(shell, key, CHANGES[key])


def solved(shell: Any, key: str) -> Feedback:
    """What the cell says of the course's own solution."""
    return answer(shell, key, exercise(key).solution)


def words_of(feedback: Feedback) -> str:
    """All that it says, as text."""
    return repr(feedback)


def speaks_chinese(text: str) -> bool:
    return re.search(r"[\u4e00-\u9fff]", text) is not None


def _cell(key: str) -> str:
    return exercise_cells(f"{int(key.split('.')[0]):02}")[key]
