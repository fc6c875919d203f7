"""Lesson 8: versions are told by the writes that moved them."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

RIGHT = {"x": 1, "row": 1, "flat": 1, "cut": 1, "data": 2, "copy": 0}
SMOOTH = """def smooth(x, decay):
    out = torch.zeros_like(x)
    out[0] = x[0]
    for t in range(1, len(x)):
        {line}
    return out"""


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "08")
    return loaded_shell


def told_of(lesson: Any, **wrong: int) -> Any:
    return answer(lesson, "8.1", f"answer = {RIGHT | wrong}")


def test_a_shared_counter_is_told_with_who_shares_it_and_what_moved_it(lesson: Any) -> None:
    told = told_of(lesson, flat=0)
    assert "`flat` is at version 1: `row.add_(1)` (Cell In[2], line 8" in told.sentences[0]
    assert "which it shares with `x`, `row`, `cut`" in told.sentences[0]


def test_a_counter_of_its_own_is_told(lesson: Any) -> None:
    told = told_of(lesson, data=3, copy=1)
    assert (
        "`data` is at version 2: 2 writes moved its counter, which it has to itself; the first is `data.mul_(2)`"
        in (told.sentences[0])
    )
    assert told.sentences[1] == "`copy` is at version 0: no write moved its counter."


def test_a_missing_variable_is_asked_for(lesson: Any) -> None:
    told = answer(lesson, "8.1", 'answer = {"x": 1}')
    assert "one number for each of `x`, `row`, `flat`, `cut`, `data`, `copy`" in told.sentences[0]


def test_a_program_that_was_changed_is_noticed(lesson: Any) -> None:
    told = answer(lesson, "8.1", f"def program():\n    return 3\n\nanswer = {RIGHT}")
    assert "`program` was changed" in told.sentences[0]


def test_the_broken_mean_is_told_of_the_other_elements(lesson: Any) -> None:
    told = untouched(lesson, "8.2")
    assert told.status == "wrong"
    assert "The write went to other elements, so what was saved is intact" in told.sentences[1]


def test_a_copy_of_what_is_saved_is_right_too(lesson: Any) -> None:
    line = "out[t] = decay * out[t - 1].clone() + (1 - decay) * x[t]"
    assert answer(lesson, "8.2", SMOOTH.format(line=line)).passed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("out[t] = decay * out[t - 1].detach() + (1 - decay) * x[t]", "share one version counter"),
        ("out[t] = decay * out[t - 1].clone().detach() + (1 - decay) * x[t]", "`decay.grad` is"),
        ("out[t] = decay.detach() * out[t - 1] + (1 - decay) * x[t]", "`decay.grad` is"),
        ("out[t] = decay * out[t].clone() + (1 - decay) * x[t]", "`result` is"),
    ],
)
def test_a_wrong_repair_is_told_by_its_finding_or_by_its_numbers(lesson: Any, line: str, said: str) -> None:
    told = answer(lesson, "8.2", SMOOTH.format(line=line))
    assert told.status == "wrong"
    assert said in " ".join(told.sentences), told
