"""Reading what nodes saved on a PyTorch that shows it by unpacking alone; the newest one can be read that way too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from capture.watching import trace_of
from torch import nn
from torch.utils.checkpoint import checkpoint

import inplace_magic
from inplace_magic.capture.torch import describe_nodes, unpacking

X = torch.tensor([[1.0, -2.0], [3.0, 4.0]])


def overwritten_result(w: torch.Tensor) -> torch.Tensor:
    y = torch.sigmoid(w @ X)
    y.add_(1)
    return y.sum()


def in_place_layers(w: torch.Tensor) -> torch.Tensor:
    h = F.relu(w @ X, inplace=True)
    return F.dropout(F.silu(h, inplace=True), 0.5, inplace=True).sum()


def many_inputs(w: torch.Tensor) -> torch.Tensor:
    return torch.cat([w, X, w * X]).prod() + torch.einsum("ij,jk->ik", w, X).norm()


def network(w: torch.Tensor) -> torch.Tensor:
    image = (w @ X).view(1, 1, 2, 2)
    return F.conv2d(F.layer_norm(image, (2, 2)), w.view(1, 1, 2, 2)).squeeze()


def view_written(w: torch.Tensor) -> torch.Tensor:
    y = w * 2
    y[0].mul_(X[0])
    return y.sum()


PROGRAMS = [overwritten_result, in_place_layers, many_inputs, network, view_written]


def saved_in(program: Callable[[torch.Tensor], torch.Tensor], level: str) -> tuple[list[Any], set[str]]:
    """What the nodes of a program saved, and the findings."""
    torch.manual_seed(0)
    w = torch.ones(2, 2, requires_grad=True)
    with inplace_magic.watch(level=level) as watch:
        program(w)
    trace = trace_of(watch)
    names = {node.node: node.name for node in trace.nodes}
    assert watch.report is not None
    return (
        [(names[saved.node], saved.name, saved.tensor, saved.storage, saved.version) for saved in trace.saved],
        {hazard.code for hazard in watch.report.hazards},
    )


@pytest.mark.skipif(unpacking.NEEDED, reason="this PyTorch has one way only")
@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_ways_give_the_same(monkeypatch: pytest.MonkeyPatch, program: Any, level: str) -> None:
    directly = saved_in(program, level)
    assert directly[0] != []
    monkeypatch.setattr(unpacking, "NEEDED", True)
    assert saved_in(program, level) == directly


def test_under_somebodys_hooks_nothing_is_unpacked_and_the_hooks_stay_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "NEEDED", True)
    packed: list[torch.Tensor] = []
    unpacked: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        packed.append(tensor)
        return tensor

    def unpack(tensor: torch.Tensor) -> torch.Tensor:
        unpacked.append(tensor)
        return tensor

    w = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = w.exp()
            z = y * y
        z.sum()
    assert (len(packed), unpacked) == (3, [])
    saved = trace_of(watch).saved
    assert [(each.name, each.storage, each.version) for each in saved] == [("tensors", None, None)] * 2


def test_a_checkpoint_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "NEEDED", True)
    runs = []
    layer = nn.Linear(2, 2)

    def block(x: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return layer(x).sigmoid()

    with inplace_magic.watch():
        checkpoint(block, X, use_reentrant=False).sum()
    assert runs == [1]


def test_a_node_saves_until_backward_even_what_was_overwritten() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    node: Any = y.grad_fn
    ((name, data, hooked),) = unpacking.saved_values(node)
    assert (name, hooked) == ("result", False)
    assert data.data_ptr() == y.data_ptr()
    y.sum().backward(retain_graph=True)
    assert unpacking.still_saves(node)
    y.detach().mul_(2)
    assert unpacking.still_saves(node)
    del data, y
    other = torch.ones(2, requires_grad=True).exp()
    other.sum().backward()
    assert not unpacking.still_saves(other.grad_fn)


def test_a_custom_functions_node_is_left_alone() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 2

    y = Twice.apply(torch.ones(2, requires_grad=True))  # type: ignore[no-untyped-call]  # torch leaves `apply` untyped
    assert unpacking.saved_values(y.grad_fn) == []
    assert not unpacking.still_saves(y.grad_fn)


@pytest.mark.parametrize("used", [True, False])
def test_a_backward_is_pending_until_it_has_been(monkeypatch: pytest.MonkeyPatch, used: bool) -> None:
    monkeypatch.setattr(unpacking, "NEEDED", True)
    monkeypatch.setattr(describe_nodes, "saved_values", lambda node: [])  # as where `SavedTensor.data` is missing
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        y = x.sigmoid()
        if used:
            y.sum().backward()
        y.mul_(2)
    assert [node.pending for node in trace_of(watch).nodes if node.name == "SigmoidBackward0"] == [not used]
    assert [hazard.code for hazard in watch.report.hazards] == ([] if used else ["saved-tensor-overwritten"])
