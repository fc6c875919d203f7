"""Lesson 4: why a function raises, and why another does not, in the words of its own report."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

CHAIN = "def chain(x):\n    t = x + 2\n    u = torch.sin(t)\n"


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "04")
    return loaded_shell


def test_one_that_raises_and_was_missed_is_explained_by_its_finding(lesson: Any) -> None:
    told = answer(lesson, "4.1", 'answer = {"a", "e"}')
    assert told.status == "wrong"
    (missed,) = told.sentences
    assert missed.startswith("`c` raises. `y` was overwritten by `y.add_(1)`")
    assert "SinBackward0" in missed


def test_one_that_does_not_raise_is_explained_by_its_write(lesson: Any) -> None:
    told = answer(lesson, "4.1", 'answer = {"a", "c", "d", "e"}')
    assert told.sentences == (
        "`d` does not raise: when `y.mul_(2)` (Cell In[2], line 19) wrote, nobody had saved the tensor that it wrote.",
    )


def test_no_answer_and_no_change_are_not_right(lesson: Any) -> None:
    assert untouched(lesson, "4.1").status == "open"
    told = untouched(lesson, "4.2")
    assert told.status == "wrong"
    assert "0 of the 2" in told.sentences[0]


def test_one_write_too_many_is_explained(lesson: Any) -> None:
    told = answer(lesson, "4.2", CHAIN + "    u.add_(1)\n    u.exp_()\n    return u.mul_(3)")
    assert told.status == "wrong"
    assert "raised a `RuntimeError`" in told.sentences[0]
    assert "ExpBackward0" in told.sentences[1]


def test_a_gradient_that_is_wrong_without_an_error_is_caught(lesson: Any) -> None:
    told = answer(
        lesson, "4.2", CHAIN + "    u = u.add_(1)\n    w = torch.exp(u)\n    t.data.add_(1)\n    return w * 3"
    )
    assert told.status == "wrong"
    assert "the gradient is not" in told.sentences[0]


def test_another_function_is_shown_by_its_result(lesson: Any) -> None:
    assert "The result is" in answer(lesson, "4.2", CHAIN + "    return u").sentences[0]


def test_only_one_of_the_two_is_counted(lesson: Any) -> None:
    told = answer(lesson, "4.2", CHAIN + "    u.add_(1)\n    w = torch.exp(u)\n    return w * 3")
    assert "1 of the 2" in told.sentences[0]
