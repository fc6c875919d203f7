"""The broken programs of lessons 5 to 8 and the ten patients of lesson 10: what each gets, and what is looked at
afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from inplace_magic.language import _
from inplace_magic.lessons.judging import Attempt
from inplace_magic.lessons.repairs import Program
from inplace_magic.lessons.telling import spot, writes_to

Values = dict[str, Any]
"""What is compared after a run, by name."""


def numbers(*shape: int, seed: int = 0, size: float = 1.0, grad: bool = False) -> Tensor:
    """Random numbers; the generator of the notebook stays as it is."""
    made = size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return made.requires_grad_(grad)


def filled(module: nn.Module, *, size: float = 0.5) -> Any:
    """The module with the same weights each time."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(*parameter.shape, seed=number, size=size))
    return module


def result_as(name: str) -> Callable[..., Values]:
    """Runs a function; looks at its result."""
    return lambda function, *inputs: {name: function(*inputs)}


def result_and_gradient(name: str) -> Callable[..., Values]:
    """Runs a function and backward from its sum; looks at the result and at the gradient of the input that has one."""

    def run(function: Callable[..., Any], *inputs: Any) -> Values:
        result = function(*inputs)
        result.sum().backward()
        leaf = next(each for each in inputs if isinstance(each, Tensor) and each.requires_grad)
        return {"result": result.detach(), f"{name}.grad": leaf.grad}

    return run


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
    return result_and_gradient("x")(lambda leaf: function(block, leaf * 1.0), x)


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
    text = _("{step} wrote the weights after {clip} had clipped them: nothing clips what the step gave.")
    return text.format(step=spot(writes[-1]), clip=spot(clipped[-1]))


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


PROGRAMS: dict[str, Program] = {
    "5.2": Program(inputs=lambda: (torch.tensor([0.5, -1.0], requires_grad=True),), run=result_and_gradient("x")),
    "6.2": Program(inputs=_two_heads, run=_two_heads_run),
    "7.1": Program(
        inputs=lambda: (
            filled(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))),
            numbers(2, 3, seed=5, grad=True),
        ),
        run=_residual_run,
    ),
    "7.2": Program(inputs=lambda: (numbers(4, 2), numbers(2, 1, seed=2, grad=True)), run=result_and_gradient("weight")),
    "8.2": Program(
        inputs=lambda: (numbers(4, 2), torch.tensor(0.7, requires_grad=True)), run=result_and_gradient("decay")
    ),
    "10.1": Program(
        inputs=lambda: (numbers(3, 4, grad=True), numbers(4, 2, seed=1), torch.tensor(KEEP)),
        run=result_and_gradient("scores"),
        harmless=("div_", "weights /= weights.sum(-1, keepdim=True)"),
    ),
    "10.2": Program(inputs=lambda: (numbers(4), numbers(4, 2, seed=1), 0.1), run=result_as("noise")),
    "10.3": Program(
        inputs=lambda: (numbers(3, 4), numbers(4, 4, seed=1, size=0.5, grad=True), numbers(3, 2, seed=2)),
        run=result_and_gradient("weight"),
    ),
    "10.4": Program(inputs=_critic_inputs, run=_critic_run, why=_why_critic),
    "10.5": Program(
        inputs=lambda: (torch.tensor([[10.0, 11.0, 12.0, 9.0], [50.0, 40.0, 60.0, 75.0]]),),
        run=result_as("indexed"),
    ),
    "10.6": Program(inputs=lambda: (3, [3, 1, 2]), run=result_as("mask")),
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
        inputs=lambda: (torch.tensor([20.0, 10.0]), torch.tensor([0.0, 5.0]), 4, 0.5), run=result_as("path")
    ),
    "10.10": Program(inputs=_train_inputs, run=_train_run),
}
