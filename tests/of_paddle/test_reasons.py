"""The reasons why some rules do not run on Paddle's tensors, each shown by Paddle itself."""

from __future__ import annotations

import copy

import numpy as np
import paddle
import pytest


def leaf(*shape: int) -> paddle.Tensor:
    paddle.seed(1)
    found = paddle.rand(shape)
    found.stop_gradient = False
    return found


def test_arrays_and_tensors_share_no_memory() -> None:
    array = np.zeros(3, dtype=np.float32)
    taken, given = paddle.to_tensor(array), paddle.ones([3])
    array[0] = 5.0
    given.numpy()[0] = 5.0
    assert (taken.tolist(), given.tolist()) == ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])


def test_an_optimizer_passes_over_what_is_frozen() -> None:
    w = paddle.create_parameter([3], "float32")
    optimizer = paddle.optimizer.Momentum(0.1, parameters=[w])
    (w * w).sum().backward()
    optimizer.step()
    w.stop_gradient = True
    before = w.tolist()
    optimizer.step()
    assert w.tolist() == before


def test_an_assigned_gradient_is_a_copy() -> None:
    ours, theirs = leaf(3), leaf(3)
    (ours * 2.0).sum().backward()
    theirs.grad = ours.grad
    assert theirs.grad.data_ptr() != ours.grad.data_ptr()


class Tied(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.embed = paddle.nn.Embedding(5, 3)
        self.head = self.embed.weight
        level = paddle.ones([1])
        self.register_buffer("one", level)
        self.register_buffer("other", level)


def test_what_is_tied_stays_tied() -> None:
    layer = Tied()
    layer.set_state_dict({name: value.clone() for name, value in Tied().state_dict().items()})
    for each in (layer, copy.deepcopy(layer), layer.to(dtype="float64")):
        assert each.head is each.embed.weight
        assert each.one is each.other


def test_a_parameter_made_of_a_tensor_is_a_copy() -> None:
    made = leaf(3) * 2.0
    parameter = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Assign(made))
    assert parameter.data_ptr() != made.data_ptr()


@pytest.mark.parametrize("columns", [5, 70_000])
def test_what_is_read_and_written_at_once_is_read_first(columns: int) -> None:
    x = paddle.rand([3, columns])
    shifted, assigned, less = x.clone(), x.clone(), x.clone()
    shifted[:, 1:].add_(shifted[:, :-1])
    assigned[:, 1:] = assigned[:, :-1]
    less.subtract_(less[:, :1])
    assert bool((shifted[:, 1:] == x[:, 1:] + x[:, :-1]).all())
    assert bool((assigned[:, 1:] == x[:, :-1]).all())
    assert bool((less == x - x[:, :1]).all())


@pytest.mark.parametrize(
    "join",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a + b + a,
        lambda a, b: paddle.add_n([a, b]),
        lambda a, b: paddle.concat([a, b]),
        lambda a, b: paddle.stack([a, b]),
        lambda a, b: a.add_(b),
        lambda a, b: a.reshape([4]) + b.reshape([4]),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_each_branch_gets_a_gradient_of_its_own(join: object, side: int) -> None:
    def gradient(*, in_place: bool) -> paddle.Tensor:
        def smaller(grad: paddle.Tensor) -> paddle.Tensor | None:
            if not in_place:
                return grad * 0.1
            with paddle.no_grad():
                grad.scale_(0.1)
            return None

        x = leaf(2, 2)
        branches = x * 2.0, x * 3.0
        branches[side].register_hook(smaller)
        join(*branches).square().sum().backward()  # type: ignore[operator]  # one of the functions above
        return x.grad

    assert bool(paddle.allclose(gradient(in_place=True), gradient(in_place=False)))


def test_state_is_taken_by_the_names_of_parameters() -> None:
    first, second = paddle.create_parameter([3], "float32"), paddle.create_parameter([3], "float32")
    leader = paddle.optimizer.Momentum(0.1, parameters=[first])
    follower = paddle.optimizer.Momentum(0.1, parameters=[second])
    (first * second).sum().backward()
    leader.step()
    follower.step()
    with pytest.raises(AssertionError):
        follower.set_state_dict(leader.state_dict())


def test_gradients_that_are_cleared_are_zeros() -> None:
    w = paddle.create_parameter([3], "float32")
    (w * w).sum().backward()
    paddle.optimizer.SGD(0.1, parameters=[w]).clear_grad()
    assert w.grad.tolist() == [0.0, 0.0, 0.0]
