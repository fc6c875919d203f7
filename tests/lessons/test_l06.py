"""Lesson 6: steps that go nowhere, past the accounts, or too early are told apart by the report."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, untouched

STEP = "def sgd_step(parameters, lr):\n    for p in parameters:\n        {line}"
UNDER_NO_GRAD = "with torch.no_grad():\n            p -= lr * p.grad"
TWO_STEPS = """def train_step(trunk, actor, critic, optimizer, x):
    features = trunk(x)
    critic_loss = critic(features).square().mean()
    actor_loss = (actor({features}) - 1).square().mean()
    optimizer.zero_grad()
    critic_loss.backward({keep})
    {between}
    actor_loss.backward()
    optimizer.step()"""


@pytest.fixture
def lesson(loaded_shell: Any) -> Any:
    begin(loaded_shell, "06")
    return loaded_shell


def test_a_leaf_written_while_recording_is_explained_by_its_finding(lesson: Any) -> None:
    told = answer(lesson, "6.1", STEP.format(line="p -= lr * p.grad"))
    assert told.status == "wrong"
    assert "raised a `RuntimeError`" in told.sentences[0]
    assert "`p -= lr * p.grad` (Cell In[2], line 8, in `sgd_step`" in told.sentences[1]
    assert "is a leaf that requires grad" in told.sentences[1]
    assert "with torch.no_grad():" in told.sentences[2]


def test_a_new_tensor_trains_nothing_and_its_call_is_named(lesson: Any) -> None:
    told = answer(lesson, "6.1", STEP.format(line="p = p - lr * p.grad"))
    assert told.status == "wrong"
    assert "`p = p - lr * p.grad` (Cell In[2], line 8" in str(told)
    assert "an assignment to a name writes nothing" in str(told)


def test_a_step_that_writes_nothing_is_told_so(lesson: Any) -> None:
    told = answer(lesson, "6.1", STEP.format(line="p.grad = None"))
    assert "The report shows no write to it." in told.sentences[0]


def test_a_step_uphill_is_told_with_its_numbers(lesson: Any) -> None:
    told = answer(lesson, "6.1", STEP.format(line=UNDER_NO_GRAD.replace("-=", "+=")))
    assert "that was `[1.0, 2.0]` with the gradient `[2.0, -2.0]` is `[2.0, 1.0]`; it should be `[0.0, 3.0]`" in str(
        told
    )


def test_an_old_gradient_that_stays_is_noticed(lesson: Any) -> None:
    told = answer(lesson, "6.1", STEP.format(line=UNDER_NO_GRAD))
    assert told.status == "wrong"
    assert "the gradient is still `[2.0, -2.0]`" in told.sentences[0]


def test_a_write_through_data_is_right_with_a_warning(lesson: Any) -> None:
    told = answer(lesson, "6.1", STEP.format(line="p.data -= lr * p.grad; p.grad.zero_()"))
    assert told.passed
    assert "the version counter still says 0" in told.sentences[0]


def test_setting_gradients_to_zero_is_as_good_as_dropping_them(lesson: Any) -> None:
    assert answer(lesson, "6.1", STEP.format(line=UNDER_NO_GRAD + "; p.grad.zero_()")).passed


def test_the_broken_step_is_explained_by_the_optimizer_that_came_too_early(lesson: Any) -> None:
    told = untouched(lesson, "6.2")
    assert told.status == "wrong"
    assert "was overwritten by `optimizer.step()` (Cell In[2], line 7" in told.sentences[1]
    assert "had saved it for backward" in told.sentences[1]


def test_a_step_of_one_head_alone_does_not_compute_what_was_meant(lesson: Any) -> None:
    step = TWO_STEPS.format(features="features.detach()", keep="", between="optimizer.step(); optimizer.zero_grad()")
    told = answer(lesson, "6.2", step)
    assert told.status == "wrong"
    assert "does not do what was meant" in told.sentences[0]
    assert "differs from what was meant" in told.sentences[1] or "it should be" in told.sentences[1]


def test_two_backwards_and_one_step_are_right_too(lesson: Any) -> None:
    assert answer(lesson, "6.2", TWO_STEPS.format(features="features", keep="retain_graph=True", between="pass")).passed
