"""The ten patients of lesson 10: what each gets, what is looked at afterwards, and what was meant.

Each `meant` is written without a single in-place call on what it is given, so it shares no mistake with a patient.
"""

from __future__ import annotations

import copy
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


def _attend(scores: Tensor, values: Tensor, keep: Tensor) -> Tensor:
    kept = scores.softmax(-1) * keep
    return (kept / kept.sum(-1, keepdim=True)) @ values


def _attack(image: Tensor, weight: Tensor, size: float) -> Tensor:
    noise = torch.zeros_like(image)
    for _step in range(3):
        slope = (1 - torch.tanh((image + noise) @ weight).square()) @ weight.t()
        noise = noise + size * slope.sign()
    return noise


def _why_attack(run: Attempt) -> str:
    """The name `noise` went on to another tensor, which is no leaf."""
    made = [
        c for c in run.report.calls if c.kind == "ordinary" and c.callsite is not None and "noise =" in c.callsite.text
    ]
    made = [c for c in made if c.outputs and c.inputs and c.callsite is not None and "zeros" not in c.callsite.text]
    if not made:
        return ""
    return _(
        "{call} made a new tensor and bound the name to it. Only leaves collect gradients, and in the next "
        "round `noise` is a tensor that gets none. The new values have to go into the leaf itself."
    ).format(call=spot(made[-1]))


def _policy_loss(features: Tensor, weight: Tensor, actions: Tensor) -> Tensor:
    mean, log_std = (features @ weight).chunk(2, dim=-1)
    log_std = log_std.clamp(-1.0, 1.0)
    return (log_std + 0.5 * ((actions - mean) / log_std.exp()).square()).mean()


def _critic_inputs() -> tuple[Any, ...]:
    critic = filled(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)))
    return critic, numbers(4, 2, seed=7), numbers(4, 2, seed=8) + 1, torch.optim.SGD(critic.parameters(), lr=0.1)


def _critic_run(function: Callable[..., Any], critic: nn.Module, *rest: Any) -> Values:
    function(critic, *rest)
    gradients = {f"{name}.grad": p.grad for name, p in critic.named_parameters() if name == "0.weight"}
    return {**gradients, **{name: p.detach() for name, p in critic.named_parameters() if name.endswith("weight")}}


def _critic_step(critic: nn.Module, real: Tensor, fake: Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    (critic(fake).mean() - critic(real).mean()).backward()
    optimizer.step()
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.clamp_(-0.1, 0.1)


def _why_critic(run: Attempt) -> str:
    """The weights were clipped, and a step wrote them afterwards."""
    writes = writes_to(run.report, run.result["0.weight"])
    clipped = [call for call in writes if call.operation.startswith(("clamp", "clip"))]
    if not clipped or writes[-1] is clipped[-1]:
        return ""
    return _("{step} wrote the weights after {clip} had clipped them: nothing clips what the step gave.").format(
        step=spot(writes[-1]), clip=spot(clipped[-1])
    )


def _index_prices(prices: Tensor) -> Tensor:
    return prices / prices[:, :1].clone()


def _padding_mask(length: int, lengths: list[int]) -> Tensor:
    masks = [torch.ones(length, length).tril() * (torch.arange(length) < n) for n in lengths]
    return torch.stack(masks)


def _two_towers(text: Tensor, image: Tensor, text_weight: Tensor, image_weight: Tensor) -> Tensor:
    text_part = text @ text_weight
    slow = 0.1 * text_part + 0.9 * text_part.detach()
    return (slow + image @ image_weight).square().sum()


def _two_towers_run(function: Callable[..., Tensor], *inputs: Any) -> Values:
    loss: Any = function(*inputs)
    loss.backward()
    return {"loss": loss.detach(), "text_weight.grad": inputs[2].grad, "image_weight.grad": inputs[3].grad}


def _mask_tokens(tokens: Tensor, chosen: Tensor, mask_id: int) -> tuple[Tensor, Tensor]:
    return torch.where(chosen, mask_id, tokens), tokens.clone()


def _mask_tokens_run(function: Callable[..., Any], tokens: Tensor, chosen: Tensor, mask_id: int) -> Values:
    inputs, labels = function(tokens, chosen, mask_id)
    table = numbers(12, 6)
    F.cross_entropy(F.embedding(inputs, table) @ table.t(), labels)
    return {"inputs": inputs, "labels": labels}


def _fall(height: Tensor, speed: Tensor, steps: int, dt: float) -> Tensor:
    heights = [height.clone()]
    for _step in range(steps - 1):
        speed = speed - 9.81 * dt
        heights.append(heights[-1] + speed * dt)
    return torch.stack(heights)


def _train_inputs() -> tuple[Any, ...]:
    model = filled(nn.Linear(3, 1), size=0.0)
    x = numbers(12, 3)
    return model, x, x.sum(1, keepdim=True), 5


def _train_run(function: Callable[..., Any], model: nn.Linear, x: Tensor, y: Tensor, steps: int) -> Values:
    function(model, x, y, steps)
    return {"model.weight": model.weight.detach(), "loss at the end": (model(x) - y).square().mean().detach()}


def _train(model: nn.Module, x: Tensor, y: Tensor, steps: int) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.6)
    best_loss, best = float("inf"), model
    for _step in range(steps):
        loss = (model(x) - y).square().mean()
        if loss.item() < best_loss:
            best_loss, best = loss.item(), copy.deepcopy(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.load_state_dict(best.state_dict())


PATIENTS: dict[str, Program] = {
    "10.1": Program(
        inputs=lambda: (numbers(3, 4, grad=True), numbers(4, 2, seed=1), torch.tensor(KEEP)),
        run=result_and_gradient("scores"),
        meant=_attend,
        harmless=("div_", "weights /= weights.sum(-1, keepdim=True)"),
    ),
    "10.2": Program(
        inputs=lambda: (numbers(4), numbers(4, 2, seed=1), 0.1),
        run=lambda function, *inputs: {"noise": function(*inputs)},
        meant=_attack,
        why=_why_attack,
    ),
    "10.3": Program(
        inputs=lambda: (numbers(3, 4), numbers(4, 4, seed=1, size=0.5, grad=True), numbers(3, 2, seed=2)),
        run=result_and_gradient("weight"),
        meant=_policy_loss,
    ),
    "10.4": Program(inputs=_critic_inputs, run=_critic_run, meant=_critic_step, why=_why_critic),
    "10.5": Program(
        inputs=lambda: (torch.tensor([[10.0, 11.0, 12.0, 9.0], [50.0, 40.0, 60.0, 75.0]]),),
        run=lambda function, *inputs: {"indexed": function(*inputs)},
        meant=_index_prices,
    ),
    "10.6": Program(
        inputs=lambda: (3, [3, 1, 2]),
        run=lambda function, *inputs: {"mask": function(*inputs)},
        meant=_padding_mask,
    ),
    "10.7": Program(
        inputs=lambda: (
            numbers(2, 3),
            numbers(2, 5, seed=1),
            numbers(3, 2, seed=2, grad=True),
            numbers(5, 2, seed=3, grad=True),
        ),
        run=_two_towers_run,
        meant=_two_towers,
    ),
    "10.8": Program(
        inputs=lambda: (torch.tensor([5, 3, 8, 1, 7, 2]), torch.tensor([False, True, False, False, True, False]), 11),
        run=_mask_tokens_run,
        meant=_mask_tokens,
    ),
    "10.9": Program(
        inputs=lambda: (torch.tensor([20.0, 10.0]), torch.tensor([0.0, 5.0]), 4, 0.5),
        run=lambda function, *inputs: {"path": function(*inputs)},
        meant=_fall,
    ),
    "10.10": Program(inputs=_train_inputs, run=_train_run, meant=_train),
}
