"""Lesson 3: who wrote into the caller's tensor is read off the run."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

BLOCK = """class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 1, kernel_size=1)
        self.conv2 = nn.Conv2d(1, 1, kernel_size=1)

    def forward(self, x):
        h = {first}
        h = self.conv1(h)
        h = {second}
        return self.conv2(h)"""


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "03")
    return loaded_shell


def test_a_write_into_ones_own_tensor_is_told_from_one_into_the_callers(lesson: Any) -> None:
    told = answer(lesson, "3.1", 'answer = {"b", "c"}')
    assert told.status == "wrong"
    own, view = told.sentences
    assert own.startswith("`c` leaves it alone: `return F.relu(x, inplace=True)` (Cell In[2], line 9) is in-place")
    assert view.startswith("`d` changes it: `return torch.relu_(x)` (Cell In[2], line 13)")
    assert "`[-1.0, 2.0]` became `[0.0, 2.0]`" in view


def test_an_ordinary_function_is_not_blamed(lesson: Any) -> None:
    told = answer(lesson, "3.1", 'answer = {"a", "b", "d"}')
    assert told.sentences == ("`a` leaves it alone: none of its calls is in-place.",)


def test_a_function_that_is_not_there_is_named(lesson: Any) -> None:
    assert "no function `z`" in answer(lesson, "3.1", 'answer = {"z"}').sentences[0]


def test_the_block_as_it_stands_is_told_who_wrote_the_input(lesson: Any) -> None:
    assert untouched(lesson, "3.1").status == "open"
    told = untouched(lesson, "3.2")
    assert told.status == "wrong"
    assert "`h = F.relu(x, inplace=True)` (Cell In[3], line 8) wrote it" in told.sentences[0]


def test_no_in_place_call_at_all_is_asked_for_one(lesson: Any) -> None:
    told = answer(lesson, "3.2", BLOCK.format(first="F.relu(x)", second="F.relu(h)"))
    assert told.status == "wrong"
    assert "no call is in-place any more" in told.sentences[0]


def test_a_relu_left_out_is_noticed(lesson: Any) -> None:
    told = answer(lesson, "3.2", BLOCK.format(first="x", second="F.relu(h, inplace=True)"))
    assert "computes something else" in told.sentences[0]


def test_a_copy_before_the_first_one_is_right_too(lesson: Any) -> None:
    assert answer(
        lesson, "3.2", BLOCK.format(first="F.relu(x.clone(), inplace=True)", second="F.relu(h, inplace=True)")
    ).passed


def test_an_error_in_the_block_is_told(lesson: Any) -> None:
    told = answer(lesson, "3.2", BLOCK.format(first="F.relu(x)", second="F.relu(q)"))
    assert "raised `NameError" in told.sentences[0]
