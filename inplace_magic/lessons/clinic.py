"""The ten patients of lesson 10: what each gets, and what is looked at afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from inplace_magic.language import _
from inplace_magic.lessons.inputs import Values, filled, numbers, result_and_gradient
from inplace_magic.lessons.repairs import Program
from inplace_magic.lessons.running import Attempt
from inplace_magic.lessons.telling import spot, writes_to

KEEP = [[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]


def _critic_inputs() -> tuple[Any, ...]:
    critic = filled(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)))
    return critic, numbers(4, 2, seed=7), numbers(4, 2, seed=8) + 1, torch.optim.SGD(critic.parameters(), lr=0.1)


def _critic_run(function: Callable[..., Any], critic: nn.Module, *rest: Any) -> Values:
    function(critic, *rest)
    gradients = {f"{name}.grad": p.grad for name, p in critic.named_parameters() if name == "0.weight"}
    return {**gradients, **{name: p.detach() for name, p in critic.named_parameters() if name.endswith("weight")}}


def _why_critic(run: Attempt) -> str:
    """The weights were clipped, and a step wrote them afterwards."""
    writes = writes_to(run.report, run.result["0.weight"])
    clipped = [call for call in writes if call.operation.startswith(("clamp", "clip"))]
    if not clipped or writes[-1] is clipped[-1]:
        return ""
    return _("{step} wrote the weights after {clip} had clipped them: nothing clips what the step gave.").format(
        step=spot(writes[-1]), clip=spot(clipped[-1])
    )


def _two_towers_run(function: Callable[..., Tensor], *inputs: Any) -> Values:
    loss: Any = function(*inputs)
    loss.backward()
    return {"loss": loss.detach(), "text_weight.grad": inputs[2].grad, "image_weight.grad": inputs[3].grad}


def _mask_tokens_run(function: Callable[..., Any], tokens: Tensor, chosen: Tensor, mask_id: int) -> Values:
    inputs, labels = function(tokens, chosen, mask_id)
    table = numbers(12, 6)
    F.cross_entropy(F.embedding(inputs, table) @ table.t(), labels)
    return {"inputs": inputs, "labels": labels}


def _train_inputs() -> tuple[Any, ...]:
    model = filled(nn.Linear(3, 1), size=0.0)
    x = numbers(12, 3)
    return model, x, x.sum(1, keepdim=True), 5


def _train_run(function: Callable[..., Any], model: nn.Linear, x: Tensor, y: Tensor, steps: int) -> Values:
    function(model, x, y, steps)
    return {"model.weight": model.weight.detach(), "loss at the end": (model(x) - y).square().mean().detach()}


PATIENTS: dict[str, Program] = {
    "10.1": Program(
        inputs=lambda: (numbers(3, 4, grad=True), numbers(4, 2, seed=1), torch.tensor(KEEP)),
        run=result_and_gradient("scores"),
        harmless=("div_", "weights /= weights.sum(-1, keepdim=True)"),
    ),
    "10.2": Program(
        inputs=lambda: (numbers(4), numbers(4, 2, seed=1), 0.1),
        run=lambda function, *inputs: {"noise": function(*inputs)},
    ),
    "10.3": Program(
        inputs=lambda: (numbers(3, 4), numbers(4, 4, seed=1, size=0.5, grad=True), numbers(3, 2, seed=2)),
        run=result_and_gradient("weight"),
    ),
    "10.4": Program(inputs=_critic_inputs, run=_critic_run, why=_why_critic),
    "10.5": Program(
        inputs=lambda: (torch.tensor([[10.0, 11.0, 12.0, 9.0], [50.0, 40.0, 60.0, 75.0]]),),
        run=lambda function, *inputs: {"indexed": function(*inputs)},
    ),
    "10.6": Program(
        inputs=lambda: (3, [3, 1, 2]),
        run=lambda function, *inputs: {"mask": function(*inputs)},
    ),
    "10.7": Program(
        inputs=lambda: (
            numbers(2, 3),
            numbers(2, 5, seed=1),
            numbers(3, 2, seed=2, grad=True),
            numbers(5, 2, seed=3, grad=True),
        ),
        run=_two_towers_run,
    ),
    "10.8": Program(
        inputs=lambda: (torch.tensor([5, 3, 8, 1, 7, 2]), torch.tensor([False, True, False, False, True, False]), 11),
        run=_mask_tokens_run,
    ),
    "10.9": Program(
        inputs=lambda: (torch.tensor([20.0, 10.0]), torch.tensor([0.0, 5.0]), 4, 0.5),
        run=lambda function, *inputs: {"path": function(*inputs)},
    ),
    "10.10": Program(inputs=_train_inputs, run=_train_run),
}
