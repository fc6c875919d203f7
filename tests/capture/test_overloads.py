"""An operator that is called as one of its overloads, as libraries with kernels of their own do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from capture.watching import report_of

import inplace_magic

aten = torch.ops.aten


def forward(mul_: Any, slice_: Any, weight: torch.Tensor) -> torch.Tensor:
    probabilities = torch.sigmoid(weight)
    mul_(probabilities, torch.tensor(2.0))
    slice_(probabilities, 0, 0, 2)
    return probabilities.sum()


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_an_overload_is_a_call_as_its_operator_is(level: Any) -> None:
    seen = []
    for mul_, slice_ in ((aten.mul_, aten.slice), (aten.mul_.Tensor, aten.slice.Tensor)):
        weight = torch.ones(4, requires_grad=True)
        with inplace_magic.watch(level=level) as watch, pytest.raises(RuntimeError, match="inplace operation"):
            forward(mul_, slice_, weight).backward()
        report = report_of(watch)
        (hazard,) = report.hazards
        assert hazard.mutation is not None
        seen.append(
            ([(call.name, call.kind, call.callsite) for call in report.calls], hazard.code, hazard.mutation.text)
        )
    assert seen[0][0][:5] == seen[1][0][:5]
    assert [name for name, _kind, _site in seen[1][0]].count("aten.mul_") == 1
    assert seen[0][1:] == seen[1][1:] == ("saved-tensor-overwritten", "mul_(probabilities, torch.tensor(2.0))")


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_operators_that_backward_runs_are_no_calls_of_the_user(level: Any) -> None:
    weight = torch.ones(4, requires_grad=True)
    loss = torch.sigmoid(weight).sum()
    with inplace_magic.watch(level=level) as watch:
        loss.backward()
    assert [call.name for call in report_of(watch).calls] == ["Tensor.backward"]
