"""Lesson 1: what is said about an answer is true of that answer."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "01")
    return loaded_shell


def test_a_name_too_many_and_one_too_few_are_explained_by_their_storages(lesson: Any) -> None:
    told = answer(lesson, "1.1", 'answer = {"a", "b"}')
    assert told.status == "wrong"
    assert told.sentences == (
        "`b.add_(5)` (Cell In[2], line 7) wrote storage S1; `a` (T4) lies on S3, so it shows no fives.",
        "`b.add_(5)` (Cell In[2], line 7) wrote storage S1, and `c` (T2) lies on it: it shows the fives.",
    )


def test_the_explanation_follows_the_program_that_the_learner_changed(lesson: Any) -> None:
    told = answer(
        lesson,
        "1.1",
        "def program():\n    a = torch.zeros(2)\n    b = a.clone()\n    b.add_(5)\n"
        '    return {"a": a, "b": b}\n\nanswer = {"b"}',
    )
    assert told.passed


def test_a_name_that_the_program_does_not_have_is_named(lesson: Any) -> None:
    assert "no variable `x`" in answer(lesson, "1.1", 'answer = {"x"}').sentences[0]


def test_nobody_can_be_an_answer_and_is_wrong_here(lesson: Any) -> None:
    assert answer(lesson, "1.1", "answer = set()").status == "wrong"


def test_no_answer_is_no_wrong_answer(lesson: Any) -> None:
    assert untouched(lesson, "1.1").status == "open"
    assert untouched(lesson, "1.2").status == "open"


def test_rebinding_is_told_from_writing(lesson: Any) -> None:
    told = answer(lesson, "1.2", "def bump(x):\n    x = x + 1\n    return x")
    assert told.status == "wrong"
    assert told.sentences == ("The tensor that `bump` was given is unchanged: `[3.0, 4.0, 5.0]`, at version 0.",)
    assert (told.happened[0].code, told.happened[0].what) == ("x = x + 1", "+ T2 x: created")


def test_a_write_that_is_not_counted_is_not_what_was_asked(lesson: Any) -> None:
    told = answer(lesson, "1.2", "def bump(x):\n    x.data += 1\n    return x")
    assert "bypassed PyTorch's bookkeeping" in told.sentences[0]


def test_a_copy_in_the_end_is_noticed(lesson: Any) -> None:
    told = answer(lesson, "1.2", "def bump(x):\n    x += 1\n    return x.clone()")
    assert "`bump(x) is x` is false" in told.sentences[0]


def test_wrong_numbers_are_told(lesson: Any) -> None:
    assert "`[5.0, 6.0, 7.0]`" in answer(lesson, "1.2", "def bump(x):\n    return x.add_(2)").sentences[0]


def test_an_error_is_told_and_does_not_break_the_notebook(lesson: Any) -> None:
    told = answer(lesson, "1.2", "def bump(x):\n    return x.add_(torch.ones(7))")
    assert told.status == "wrong"
    assert "raised `RuntimeError" in told.sentences[0]


def test_adding_by_assignment_operator_is_right_too(lesson: Any) -> None:
    assert answer(lesson, "1.2", "def bump(x):\n    x += 1\n    return x").passed
