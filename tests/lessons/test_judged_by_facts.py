"""Answers that once got a verdict, or a reason, that was not theirs: each is judged by what it did to tensors."""

from __future__ import annotations

from typing import Any

import pytest
from lessons.asking import answer, begin, changed

CHAIN = "def chain(x):\n    t = x + 2\n    {}\n"
ORDINARY = "u = torch.sin(t)\n    v = u + 1\n    w = torch.exp(v)\n    return w * 3"


def given(shell: Any, key: str, code: str) -> Any:
    """What the cell of an exercise says of this definition."""
    begin(shell, f"{int(key.split('.')[0]):02}")
    return answer(shell, key, code)


def test_a_tensor_that_was_filled_with_a_number_was_not_added_to(loaded_shell: Any) -> None:
    told = given(loaded_shell, "1.2", "def bump(x):\n    return x.fill_(1)")
    assert told.status == "wrong"
    assert "was `[3.0, 4.0, 5.0]` and is `[1.0, 1.0, 1.0]` now" in told.sentences[0]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("t.clone().add_(0).mul_(1)\n    " + ORDINARY, 0),
        ("t = t.clone().add_(0).mul_(1)\n    " + ORDINARY, 0),
        ("u = torch.sin(t)\n    u += 1\n    u.clone().mul_(1)\n    w = torch.exp(u)\n    return w * 3", 1),
    ],
)
def test_a_write_besides_the_five_calls_makes_none_of_them_in_place(loaded_shell: Any, body: str, count: int) -> None:
    told = given(loaded_shell, "4.2", CHAIN.format(body))
    assert told.status == "wrong"
    assert f"In-place so far: {count} of the 2" in told.sentences[0]
    assert f"{5 - count} of your calls still make a tensor of their own: `t = x + 2`" in told.sentences[1]


def test_in_place_that_saved_no_memory_is_right_and_told(loaded_shell: Any) -> None:
    told = given(loaded_shell, "4.2", CHAIN.format("t.sin_()\n    t += 1\n    w = torch.exp(t)\n    return w * 3"))
    assert told.passed
    assert "In-place does not mean that memory is saved." in told.sentences[1]
    assert "t.sin_()" in told.sentences[1]


def test_in_place_that_saved_memory_has_no_such_remark(loaded_shell: Any) -> None:
    told = given(loaded_shell, "4.2", CHAIN.format("u = torch.sin(t)\n    u += 1\n    w = u.exp_()\n    return w * 3"))
    assert told.passed
    assert len(told.sentences) == 1


@pytest.mark.parametrize("line", ["x.add_(0)", "x.data.add_(0)", "weight.view(-1).mul_(1)"])
def test_a_write_that_changes_no_value_is_a_write_of_the_caller_s_tensor(loaded_shell: Any, line: str) -> None:
    told = given(
        loaded_shell,
        "9.2",
        f"def features(x, weight):\n    {line}\n    return (x @ weight).add_(1).relu_().mul_(0.5)",
    )
    assert told.status == "wrong"
    assert told.sentences[0].startswith(f"`{line}` (Cell In[2], line ")
    assert f"wrote `{line.partition('.')[0]}`" in told.sentences[0]


@pytest.mark.parametrize(
    "changes",
    [
        [
            ("weights *= keep", "weights = weights * keep"),
            ("weights /= weights.sum", "weights = weights / weights.sum"),
        ],
        [
            ("weights *= keep", "weights = weights.clone()\n    weights *= keep"),
            ("weights /= weights.sum", "weights = weights / weights.sum"),
        ],
    ],
)
def test_a_line_that_did_no_harm_has_to_stay(loaded_shell: Any, changes: list[tuple[str, str]]) -> None:
    begin(loaded_shell, "10")
    told = changed(loaded_shell, "10.1", *changes)
    assert told.status == "wrong"
    assert "`weights /= weights.sum(-1, keepdim=True)` did no harm" in told.sentences[0]


def test_a_line_that_did_no_harm_may_be_written_as_a_method(loaded_shell: Any) -> None:
    begin(loaded_shell, "10")
    told = changed(
        loaded_shell,
        "10.1",
        ("weights *= keep", "weights = weights * keep"),
        ("weights /= weights.sum(-1, keepdim=True)", "weights.div_(weights.sum(-1, keepdim=True))"),
    )
    assert told.passed


def test_what_each_flag_wrote_is_told_of_the_tensor_that_it_wrote(loaded_shell: Any) -> None:
    begin(loaded_shell, "03")
    told = changed(loaded_shell, "3.2", ("h = F.relu(x, inplace=True)", "h = F.relu(x.clone(), inplace=True)"))
    assert told.passed
    copy, convolution, _safe = told.sentences
    assert copy.startswith("`h = F.relu(x.clone(), inplace=True)` (Cell In[2], line 8")
    assert "writes a copy" in copy
    assert convolution.startswith("`h = F.relu(h, inplace=True)` (Cell In[2], line 10")
    assert "writes over the result of `h = self.conv1(h)` (Cell In[2], line 9" in convolution


def test_a_write_past_the_version_counter_is_a_write_of_the_caller_s_tensor(loaded_shell: Any) -> None:
    begin(loaded_shell, "03")
    told = changed(loaded_shell, "3.2", ("F.relu(x, inplace=True)", "F.relu(x.data, inplace=True)"))
    assert told.status == "wrong"
    assert "was `[-2.0, 3.0]` and is `[0.0, 3.0]` now" in told.sentences[0]


def test_a_gradient_that_was_cut_is_not_blamed_on_a_copy(loaded_shell: Any) -> None:
    begin(loaded_shell, "08")
    told = changed(loaded_shell, "8.2", ("out[t - 1]", "out[t - 1].detach().clone()"))
    assert told.status == "wrong"
    whole = " ".join(told.sentences)
    assert "made its copy" not in whole
    assert "gave one that does not: no gradient goes back through it" in whole


def test_weights_that_were_clipped_too_early_are_told_of_the_step_that_followed(loaded_shell: Any) -> None:
    begin(loaded_shell, "10")
    told = changed(
        loaded_shell,
        "10.4",
        ("    for p in critic.parameters():\n        p.data.clamp_(-0.1, 0.1)\n", ""),
        ("    loss = ", "    for p in critic.parameters():\n        p.data.clamp_(-0.1, 0.1)\n    loss = "),
    )
    assert told.status == "wrong"
    whole = " ".join(told.sentences)
    assert "gave one that does not" not in whole
    assert "`optimizer.step()` (Cell In[2], line 7" in whole
    assert "wrote the weights after `p.data.clamp_(-0.1, 0.1)` (Cell In[2], line 3" in whole
