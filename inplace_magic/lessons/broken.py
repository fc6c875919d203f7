"""The broken programs of lessons 6 to 8: what each gets, what is looked at afterwards, and what was meant."""

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


def _train_step(trunk: Any, actor: Any, critic: Any, optimizer: torch.optim.Optimizer, x: Tensor) -> None:
    features = trunk(x)
    loss = critic(features).square().mean() + (actor(features) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def _residual_run(function: Callable[..., Any], block: Any, x: Tensor) -> Values:
    result = function(block, x * 1.0)
    result.sum().backward()
    return {"result": result.detach(), "x.grad": x.grad}


def _residual(block: Any, x: Tensor) -> Tensor:
    inner: Tensor = block[1](torch.relu(x))
    return x + inner


def _gate(x: Tensor, weight: Tensor) -> Tensor:
    gate = torch.sigmoid(x @ weight)
    return torch.where(gate < 0.3, torch.tensor(0.3), gate) * x.sum(-1, keepdim=True)


def _smooth(x: Tensor, decay: Tensor) -> Tensor:
    rows = [x[0]]
    for row in x[1:]:
        rows.append(decay * rows[-1] + (1 - decay) * row)
    return torch.stack(rows)


PROGRAMS: dict[str, Program] = {
    "6.2": Program(inputs=_two_heads, run=_two_heads_run, meant=_train_step),
    "7.1": Program(
        inputs=lambda: (
            filled(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))),
            numbers(2, 3, seed=5, grad=True),
        ),
        run=_residual_run,
        meant=_residual,
    ),
    "7.2": Program(
        inputs=lambda: (numbers(4, 2), numbers(2, 1, seed=2, grad=True)),
        run=result_and_gradient("weight"),
        meant=_gate,
    ),
    "8.2": Program(
        inputs=lambda: (numbers(4, 2), torch.tensor(0.7, requires_grad=True)),
        run=result_and_gradient("decay"),
        meant=_smooth,
    ),
}
