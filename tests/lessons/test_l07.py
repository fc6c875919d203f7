"""Lesson 7: silent errors are told by the report, and quiet programs by what they compute."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

RESIDUAL = "def residual(block, x):\n    {body}"
GATED = """def gated(x, weight):
    gate = torch.sigmoid(x @ weight)
    {line}
    return gate * x.sum(-1, keepdim=True)"""


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "07")
    return loaded_shell


def test_the_broken_shortcut_is_told_who_wrote_and_who_reads(lesson: Any) -> None:
    told = untouched(lesson, "7.1")
    assert told.status == "wrong"
    assert "`block(x)` in `return x + block(x)` (Cell In[2], line 2" in told.sentences[1]
    assert "overwrote `x`, and the rest of the line reads the new values" in told.sentences[1]
    assert any("mutated in place v0→v1" in row.what for row in told.happened)


def test_a_copy_for_the_shortcut_is_right_too(lesson: Any) -> None:
    assert answer(lesson, "7.1", RESIDUAL.format(body="old = x.clone()\n    return old + block(x)")).passed


def test_an_alias_for_the_shortcut_is_none(lesson: Any) -> None:
    told = answer(lesson, "7.1", RESIDUAL.format(body="old = x.view_as(x)\n    return old + block(x)"))
    assert told.status == "wrong"


@pytest.mark.parametrize("body", ["return block(x)", "return x.clone() + block(x.detach())"])
def test_another_function_than_was_meant_is_told_by_its_numbers(lesson: Any, body: str) -> None:
    told = answer(lesson, "7.1", RESIDUAL.format(body=body))
    assert told.status == "wrong"
    assert any("differs from what was meant" in sentence or "it should be" in sentence for sentence in told.sentences)


def test_the_broken_gate_is_told_of_the_write_that_nobody_counted(lesson: Any) -> None:
    told = untouched(lesson, "7.2")
    assert told.status == "wrong"
    assert "`gate` was overwritten by `gate.data.clamp_(min=0.3)` (Cell In[2], line 3" in told.sentences[1]


def test_the_write_without_data_raises_and_is_explained(lesson: Any) -> None:
    told = answer(lesson, "7.2", GATED.format(line="gate.clamp_(min=0.3)"))
    assert told.status == "wrong"
    assert "raised a `RuntimeError`" in told.sentences[0]
    assert "in SigmoidBackward0" in told.sentences[1]


def test_a_gate_cut_off_from_its_gradient_is_told_where(lesson: Any) -> None:
    told = answer(lesson, "7.2", GATED.format(line="gate = gate.detach().clamp(min=0.3)"))
    assert told.status == "wrong"
    assert "no gradient goes back through it" in " ".join(told.sentences)


def test_a_clamp_that_nobody_keeps_is_told(lesson: Any) -> None:
    told = answer(lesson, "7.2", GATED.format(line="gate.clamp(min=0.3)"))
    assert "makes a new tensor that nothing uses" in " ".join(told.sentences)


def test_a_copy_that_is_clamped_in_place_is_right_too(lesson: Any) -> None:
    assert answer(lesson, "7.2", GATED.format(line="gate = gate.clone().clamp_(min=0.3)")).passed
