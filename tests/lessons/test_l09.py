"""Lesson 9: what a call spares, and what a function allocates, is read off the report."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

FEATURES = "def features(x, weight):\n    {body}"


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "09")
    return loaded_shell


def test_a_call_that_copied_its_input_is_told_by_the_note_of_the_report(lesson: Any) -> None:
    told = answer(lesson, "9.1", 'answer = {"relu", "sigmoid", "dropout", "silu", "relu6", "square"}')
    assert told.status == "wrong"
    assert [sentence.split(".")[0] for sentence in told.sentences] == [
        "`square` saves no memory",
        "`silu` saves no memory",
        "`relu6` saves no memory",
    ]
    assert "PyTorch cloned them first" in told.sentences[1]
    assert "F.silu(x, inplace=True)" in told.sentences[1]


def test_a_call_that_spares_is_told_with_its_line(lesson: Any) -> None:
    told = answer(lesson, "9.1", 'answer = {"relu"}')
    assert len(told.sentences) == 2
    assert told.sentences[0].startswith("`sigmoid` saves memory: `return x.sigmoid_()` (Cell In[2], line 5")


def test_the_notes_are_told_with_a_right_answer_too(lesson: Any) -> None:
    told = answer(lesson, "9.1", 'answer = {"relu", "sigmoid", "dropout"}')
    assert told.passed
    assert len(told.sentences) == 3


def test_a_stranger_is_named(lesson: Any) -> None:
    assert "no function `gelu`" in answer(lesson, "9.1", 'answer = {"gelu"}').sentences[0]


def test_nobody_is_right_without_looking(lesson: Any) -> None:
    assert untouched(lesson, "9.1").status == "open"


def test_four_tensors_are_told_line_by_line(lesson: Any) -> None:
    told = untouched(lesson, "9.2")
    assert told.status == "wrong"
    assert "takes 4.0 KiB, and your version allocates 16.0 KiB, in 4 lines" in told.sentences[0]
    assert told.sentences[2] == "Cell In[2], line 3, `h = h + 1`: 4.0 KiB"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("h = x @ weight\n    h += 1\n    return torch.relu(h).mul_(0.5)", "allocates 8.0 KiB, in 2 lines"),
        ("x += 1\n    return (x @ weight).relu_().mul_(0.5)", "wrote `x`, which belongs to the caller"),
        ("return (x @ weight).add_(1).relu_()", "should begin with"),
        ("return x", "should return a tensor of shape [64, 16]"),
        ("return x + weight", "Your code raised `RuntimeError"),
    ],
)
def test_another_version_is_told_what_it_lacks(lesson: Any, body: str, said: str) -> None:
    told = answer(lesson, "9.2", FEATURES.format(body=body))
    assert told.status == "wrong"
    assert said in told.sentences[0], told


def test_a_chain_in_one_line_is_right_too(lesson: Any) -> None:
    assert answer(lesson, "9.2", FEATURES.format(body="return (x @ weight).add_(1).relu_().mul_(0.5)")).passed
