"""The broken programs of lessons 5 to 8: what each gets, and what is looked at afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from inplace_magic.lessons.inputs import Values, filled, numbers, result_and_gradient
from inplace_magic.lessons.repairs import Program


def _two_heads() -> tuple[Any, ...]:
    trunk = filled(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 3)))
    actor, critic = filled(nn.Linear(3, 1)), filled(nn.Linear(3, 1), size=1.0)
    parameters = [*trunk.parameters(), *actor.parameters(), *critic.parameters()]
    return trunk, actor, critic, torch.optim.SGD(parameters, lr=0.1), numbers(4, 2, seed=9)


def _two_heads_run(function: Callable[..., Any], trunk: nn.Sequential, actor: nn.Linear, *rest: Any) -> Values:
    function(trunk, actor, *rest)
    weights = [parameter.detach() for parameter in trunk.parameters()]
    return {"trunk[0].weight": weights[0], "trunk[2].weight": weights[2], "actor.weight": actor.weight.detach()}


def _residual_run(function: Callable[..., Any], block: Any, x: Tensor) -> Values:
    result = function(block, x * 1.0)
    result.sum().backward()
    return {"result": result.detach(), "x.grad": x.grad}


PROGRAMS: dict[str, Program] = {
    "5.2": Program(
        inputs=lambda: (torch.tensor([0.5, -1.0], requires_grad=True),),
        run=result_and_gradient("x"),
    ),
    "6.2": Program(inputs=_two_heads, run=_two_heads_run),
    "7.1": Program(
        inputs=lambda: (
            filled(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))),
            numbers(2, 3, seed=5, grad=True),
        ),
        run=_residual_run,
    ),
    "7.2": Program(
        inputs=lambda: (numbers(4, 2), numbers(2, 1, seed=2, grad=True)),
        run=result_and_gradient("weight"),
    ),
    "8.2": Program(
        inputs=lambda: (numbers(4, 2), torch.tensor(0.7, requires_grad=True)),
        run=result_and_gradient("decay"),
    ),
}
