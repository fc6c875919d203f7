"""Paddle's errors about writing in place are provoked, and told apart by their texts."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F
import pytest

from inplace_magic.capture.paddle.refusals import refusal_of
from inplace_magic.record.refusal import Refusal


def leaf(*values: float) -> paddle.Tensor:
    return paddle.to_tensor(list(values), stop_gradient=False)


def saved_and_written() -> None:
    y = F.sigmoid(leaf(1.0, 2.0))
    y.add_(paddle.ones([2]))
    y.add_(paddle.ones([2]))
    y.sum().backward()


def backward_twice() -> None:
    loss = F.sigmoid(leaf(1.0)).sum()
    loss.backward()
    loss.backward()


def leaf_scaled() -> None:
    leaf(1.0).scale_(2.0)


def leaf_assigned() -> None:
    leaf(1.0)[0] = 2.0


@pytest.mark.parametrize(
    ("program", "refusal"),
    [
        (saved_and_written, Refusal("saved tensor changed", expected=0, found=2)),
        (backward_twice, Refusal("graph used up")),
        (leaf_scaled, Refusal("leaf written")),
        (leaf_assigned, Refusal("leaf written")),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_refusal_is_told_by_its_text(program: object, refusal: Refusal) -> None:
    with pytest.raises((RuntimeError, ValueError, SystemError)) as raised:
        program()  # type: ignore[operator]  # one of the functions above
    assert refusal_of(f"{raised.type.__name__}: {raised.value}") == refusal


def test_other_errors_are_none_of_ours() -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  its text is Paddle's
        paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    assert refusal_of(str(raised.value)) is None
    assert refusal_of(None) is None
