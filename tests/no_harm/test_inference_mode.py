"""Views that are made of a normal tensor in inference mode are what they are unwatched: their write raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import inplace_magic
from tests.empty_modes import EmptyDispatchMode

VIEWS: dict[str, Callable[[torch.Tensor], Any]] = {
    "view_as": lambda a: a.view_as(a),
    "view": lambda a: a.view(3, 2),
    "reshape": lambda a: a.reshape(3, 2),
    "flatten": lambda a: a.flatten(),
    "unflatten": lambda a: a.unflatten(1, (3, 1)),
    "ravel": lambda a: a.ravel(),
    "expand_as": lambda a: a.expand_as(a),
    "narrow": lambda a: a.narrow(0, 0, 1),
    "chunk": lambda a: a.chunk(2)[0],
    "tensor_split": lambda a: a.tensor_split(2)[0],
    "unsafe_split": lambda a: torch.unsafe_split(a, 1)[0],
    "unbind": lambda a: a.unbind()[0],
    "T": lambda a: a.T,
    "mH": lambda a: a.mH,
    "movedim": lambda a: a.movedim(0, 1),
    "diagonal": lambda a: torch.linalg.diagonal(a),
    "atleast_3d": lambda a: torch.atleast_3d(a),
    "broadcast_to": lambda a: torch.broadcast_to(a, (2, 3)),
    "einsum": lambda a: torch.einsum("ij->ji", a),
    "item": lambda a: a[0, 1:],
    "detach": lambda a: a.detach(),
    "dropout": lambda a: torch.dropout(a, 0.5, False),
    "linear": lambda a: torch.nn.functional.linear(a, a),
    "contiguous": lambda a: a.contiguous(),
    "float": lambda a: a.float(),
    "clone": lambda a: a.clone(),
    "filled": lambda a: a.fill_diagonal_(3),
    "normed": lambda a: torch.nn.functional.batch_norm(a, None, None, training=True),
}


def outcome(name: str) -> tuple[Any, ...]:
    """What the view is, and what a write of it does."""
    a = torch.ones(2, 3, requires_grad=True).clone()
    with torch.inference_mode():
        made = VIEWS[name](a)
    facts = made._is_view(), made.is_inference(), made._base is a, a._version
    try:
        made.add_(2)
    except RuntimeError as error:
        return (*facts, str(error))
    return (*facts, made.tolist(), a.tolist(), a._version)


@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_made_in_inference_mode_stays_one(name: str, level: str) -> None:
    plain = outcome(name)
    with inplace_magic.watch(level=level) as watch:
        watched = outcome(name)
    assert watched == plain
    assert watch.report is not None
    assert watch.report.faults == []


def test_a_dispatch_mode_that_does_nothing_loses_the_error_that_the_write_must_raise() -> None:
    assert "A view was created in inference mode" in outcome("view_as")[-1]
    with EmptyDispatchMode():
        assert outcome("view_as")[0] is False


def test_at_level_ops_the_parts_of_an_operator_are_recorded_in_inference_mode_too() -> None:
    a = torch.ones(2, 3)
    with inplace_magic.watch(level="ops") as watch, torch.inference_mode():
        a.view_as(a)
    assert watch.report is not None
    assert [op.name for op in watch.report.trace.ops] == ["aten.view.default"]
