"""Lesson 2: the kinds that a learner gets wrong are explained by what the lines did."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

KINDS = {2: "ordinary", 3: "view", 4: "ordinary", 5: "in-place", 6: "view", 7: "in-place", 8: "ordinary"}


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "02")
    return loaded_shell


def test_each_wrong_line_is_explained_and_no_right_one(lesson: Any) -> None:
    told = answer(lesson, "2.1", f"answer = { ({**KINDS, 4: 'view', 8: 'in-place'})!r}")
    assert told.status == "wrong"
    copied, rebound = told.sentences
    assert copied.startswith("`c = b.reshape(6)` (Cell In[2], line 4) is ordinary: + T4 c: created. It took new memory")
    assert rebound.startswith("`m = m * 2` (Cell In[2], line 8) is ordinary")
    assert "rebound: `m` was T1" in rebound


def test_a_view_and_a_write_are_told_apart(lesson: Any) -> None:
    told = answer(lesson, "2.1", f"answer = { ({**KINDS, 6: 'in-place', 7: 'view'})!r}")
    assert "is a view: ≡ T5 d: view of T1" in told.sentences[0]
    assert "is in-place" in told.sentences[1]


def test_a_word_that_is_no_kind_is_named(lesson: Any) -> None:
    told = answer(lesson, "2.1", f"answer = { ({**KINDS, 2: 'copy'})!r}")
    assert "`copy` is not one of the kinds" in told.sentences[0]


def test_half_an_answer_is_no_answer_yet(lesson: Any) -> None:
    assert untouched(lesson, "2.1").status == "open"
    assert untouched(lesson, "2.2").status == "open"


def test_a_function_that_writes_nothing_is_told_so(lesson: Any) -> None:
    told = answer(lesson, "2.2", "def double_first_column(m):\n    return m[:, 0] * 2")
    assert told.sentences == ("The matrix is as it was: none of your calls was in-place.",)
    assert any("created" in row.what for row in told.happened)


def test_memory_of_its_own_is_named_with_its_line(lesson: Any) -> None:
    told = answer(lesson, "2.2", "def double_first_column(m):\n    m[:, 0] = m[:, 0] * 2")
    assert told.status == "wrong"
    assert "took new memory" in told.sentences[0]


def test_doubling_everything_is_shown_in_numbers(lesson: Any) -> None:
    assert "[[2.0, 4.0, 6.0]" in answer(lesson, "2.2", "def double_first_column(m):\n    m.mul_(2)").sentences[0]


def test_the_operator_is_as_good_as_the_method(lesson: Any) -> None:
    assert answer(lesson, "2.2", "def double_first_column(m):\n    m[:, 0] *= 2").passed
