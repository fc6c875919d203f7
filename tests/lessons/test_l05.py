"""Lesson 5: saver and culprit are compared with the finding of the run."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

ROLLOUT = """def rollout(x, steps=3):
    state = torch.zeros_like(x)
    total = torch.zeros_like(x)
    for _ in range(steps):
        state = torch.tanh(state + x)
        total = total + state
        {end}
    return total"""


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "05")
    return loaded_shell


def test_a_harmless_write_is_told_from_the_guilty_one(lesson: Any) -> None:
    told = answer(lesson, "5.1", 'answer = {"saved": 3, "overwritten": 4}')
    assert told.status == "wrong"
    assert told.sentences == (
        "`scores.mul_(2)` (Cell In[2], line 4) did write, but nobody had saved the tensor that it wrote. "
        "Look for another write.",
    )


def test_a_line_that_wrote_nothing_and_a_wrong_saver_are_both_told(lesson: Any) -> None:
    told = answer(lesson, "5.1", 'answer = {"saved": 2, "overwritten": 6}')
    assert "Line 6 wrote into no tensor" in told.sentences[0]
    assert "Line 2 is not where it was saved" in told.sentences[1]
    assert "`weights`" in told.sentences[1]


def test_entries_by_another_name_are_asked_for(lesson: Any) -> None:
    assert '`"saved"` and `"overwritten"`' in answer(lesson, "5.1", 'answer = {"line": 3}').sentences[0]


def test_no_answer_is_none_and_the_broken_function_is_explained(lesson: Any) -> None:
    assert untouched(lesson, "5.1").status == "open"
    told = untouched(lesson, "5.2")
    assert told.status == "wrong"
    assert "`state` was overwritten by `state *= 0.5` (Cell In[3], line 7" in told.sentences[1]
    assert "TanhBackward0" in told.sentences[1]


def test_a_write_past_the_accounts_gives_a_wrong_gradient_and_is_caught(lesson: Any) -> None:
    told = answer(lesson, "5.2", ROLLOUT.format(end="state.data *= 0.5"))
    assert told.status == "wrong"
    assert "was overwritten by `state.data *= 0.5` (Cell In[2], line 18" in told.sentences[1]


def test_a_gradient_cut_off_is_caught(lesson: Any) -> None:
    whole = " ".join(answer(lesson, "5.2", ROLLOUT.format(end="state = (state * 0.5).detach()")).sentences)
    assert "`x.grad` is" in whole
    assert "no gradient goes back through it" in whole


def test_leaving_the_factor_out_is_caught(lesson: Any) -> None:
    assert "`result` is" in answer(lesson, "5.2", ROLLOUT.format(end="pass")).sentences[1]


def test_a_copy_before_the_write_is_right_too(lesson: Any) -> None:
    assert answer(lesson, "5.2", ROLLOUT.format(end="state = state.clone()\n        state *= 0.5")).passed
