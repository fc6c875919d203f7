"""Operators of backward run without our function mode, which is on again for the user's code between them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import TorchDispatchMode

import inplace_magic
from inplace_magic.capture.torch.probes import CallProbe

LEVELS = ("calls", "ops")


def _noting(seen: list[str]) -> Any:
    """A dispatch mode that notes, at each operator, which function modes are on."""

    class Below(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(" ".join(type(each).__name__ for each in _get_current_function_mode_stack()))
            return func(*args, **(kwargs or {}))

    return Below()


def _cosh_in_backward(watch: Any) -> int:
    """Calls of `cosh` below the call of backward."""
    calls = watch.report.calls
    (backward,) = [i for i, call in enumerate(calls) if call.name == "Tensor.backward"]
    return sum(call.name == "Tensor.cosh" for call in calls[backward:])


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_hook_calls_is_seen_between_operators_of_backward(level: str) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: grad.cosh())
    node: Any = y.grad_fn
    node.register_hook(lambda inputs, outputs: (inputs[0].cosh(), None))  # after its operators, in the same breath
    with inplace_magic.watch(level=level) as watch:
        (y.exp() * 3).sum().backward()
        x.grad.cosh()  # type: ignore[union-attr]  # backward made it
    assert _cosh_in_backward(watch) == 3


def test_a_dispatch_mode_of_the_users_meets_no_function_mode_below_an_operator_of_backward() -> None:
    seen: list[str] = []
    x = torch.ones(2, requires_grad=True)
    with _noting(seen):
        y = (x * 2).exp().sum()
        with inplace_magic.watch(level="ops"):
            seen.clear()
            y.backward()
    assert set(seen) == {""}


def test_an_operator_of_torchs_in_backward_is_met_by_the_operator_probe_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[str] = []
    handler = CallProbe.__torch_function__

    def noting(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        met.append(str(func))
        return handler(self, func, *args, **kwargs)

    x = torch.ones(2, requires_grad=True)
    y = (x * 2).exp().sum()
    with inplace_magic.watch(level="ops") as watch:
        monkeypatch.setattr(CallProbe, "__torch_function__", noting)
        y.backward()
        monkeypatch.undo()
    assert watch.report is not None
    assert [op for op in watch.report.trace.ops if op.in_backward]
    assert not [name for name in met if name.startswith("aten.")]


@pytest.mark.parametrize("level", LEVELS)
def test_after_an_operator_of_backward_that_fails_the_rest_is_seen(level: str) -> None:
    x = torch.ones(2, requires_grad=True)

    def fails(grad: torch.Tensor) -> torch.Tensor:
        return grad @ torch.ones(5, 5)

    handle = x.register_hook(fails)
    with inplace_magic.watch(level=level) as watch:
        with pytest.raises(RuntimeError):
            (x * 2).sum().backward()
        handle.remove()
        x.cosh()
    assert _cosh_in_backward(watch) == 1
    assert _get_current_function_mode_stack() == []
