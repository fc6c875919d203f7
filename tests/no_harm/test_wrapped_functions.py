"""A wrapper that stands under the name of a torch function runs as often as it does unwatched: once.

Torch hands a call to any mode under the public name, so a mode that calls what it is given calls the wrapper again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from capture.watching import LEVELS
from empty_modes import EmptyFunctionMode
from torch.nn import functional as F

import inplace_magic
from inplace_magic.capture.torch.functions import facts_of

NAMES: list[tuple[Any, str, str]] = [
    (torch.Tensor, "backward", "Tensor.backward"),
    (torch.autograd, "backward", "torch.autograd.backward"),
    (torch.autograd, "grad", "torch.autograd.grad"),
    (F, "softmax", "F.softmax"),
    (F, "max_pool1d", "F.max_pool1d"),
    (torch, "norm", "torch.norm"),
    (torch.Tensor, "norm", "Tensor.norm"),
    (torch.Tensor, "__rsub__", "Tensor.__rsub__"),
    (torch.Tensor, "mul_", "Tensor.mul_"),
    (torch.Tensor, "view", "Tensor.view"),
    (torch, "exp", "torch.exp"),
]


def program() -> Any:
    """Calls all of them."""
    weight = torch.arange(4.0, requires_grad=True)
    F.softmax(weight, dim=0).prod().backward()
    loss = torch.norm(F.max_pool1d(weight[None, None], 2)) + weight.norm() + (1 - weight).sum()
    torch.autograd.backward(loss + (torch.exp(weight) + 1).mul_(2).view(2, 2).sum())
    return weight.grad, torch.autograd.grad((weight * weight).sum(), weight)


class Counting:
    """A callable that is no function."""

    def __init__(self, inner: Callable[..., Any], ran: list[str]) -> None:
        self.inner, self.ran = inner, ran

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.ran.append("ran")
        return self.inner(*args, **kwargs)


def plain_wrapper(inner: Callable[..., Any], ran: list[str]) -> Callable[..., Any]:
    return lambda *args, **kwargs: ran.append("ran") or inner(*args, **kwargs)


def polite_wrapper(inner: Callable[..., Any], ran: list[str]) -> Callable[..., Any]:
    return functools.wraps(inner)(plain_wrapper(inner, ran))


WRAPPED = [
    pytest.param(owner, name, shown, wrapper, id=f"{shown}-{wrapper.__name__}")
    for owner, name, shown in NAMES
    for wrapper in (plain_wrapper, polite_wrapper, Counting)
    if wrapper is not Counting or owner is not torch.Tensor  # an object that is no function becomes no method
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("owner", "name", "shown", "wrapper"), WRAPPED)
def test_a_wrapper_runs_as_often_as_unwatched(
    owner: Any, name: str, shown: str, wrapper: Any, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(owner, name, wrapper(getattr(owner, name), ran))
    plain = program()
    times = len(ran)
    ran.clear()

    with inplace_magic.watch(level=level) as watched:
        grad, gradient = program()

    assert len(ran) == times > 0
    assert torch.equal(grad, plain[0])
    assert torch.equal(gradient[0], plain[1][0])
    assert watched.report is not None
    assert watched.report.faults == []
    assert shown in {call.name for call in watched.report.calls}


@pytest.mark.parametrize("level", LEVELS)
def test_what_torch_itself_asks_with_is_called_as_it_is(level: str) -> None:
    with inplace_magic.watch(level=level) as watched:
        devices = [torch.device(name) for name in ("cpu", "meta")]
    assert [device.type for device in devices] == ["cpu", "meta"]
    assert watched.report is not None
    assert watched.report.faults == []


def test_no_function_of_torchs_own_is_taken_for_somebody_elses() -> None:
    known = torch.overrides.get_testing_overrides()
    assert len(known) > 1000
    assert [func for func in known if facts_of(func).foreign] == []


def test_under_any_other_mode_the_wrapper_runs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(F, "softmax", plain_wrapper(F.softmax, ran))
    with EmptyFunctionMode():
        F.softmax(torch.ones(2), dim=0)
    assert len(ran) == 2
