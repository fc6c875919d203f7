"""Lesson 6: leaves, ``no_grad`` and optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import numbers_of, right, succeeded, wrong
from inplace_magic.lessons.running import attempt
from inplace_magic.lessons.telling import calls_that_write, findings_of, spot
from inplace_magic.report import Report

LR = 0.5


def stepped(sgd_step: Callable[..., Any]) -> Feedback:
    import torch

    old, gradients = ([1.0, 2.0], [-4.0]), ([2.0, -2.0], [4.0])
    parameters = [torch.tensor(values, requires_grad=True) for values in old]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(gradient)
    run = succeeded(attempt(sgd_step, parameters, LR))
    if findings_of(run.report):
        return wrong(_("The report on your version still has a finding."), run=run)
    for parameter, values, gradient in zip(parameters, old, gradients, strict=True):
        meant = torch.tensor(values) - LR * torch.tensor(gradient)
        if parameter.tolist() == values:
            return wrong(_untouched_leaf(run.report, numbers_of(parameter)), run=run)
        if not torch.allclose(parameter.detach(), meant):
            return wrong(
                _("A parameter that was {old} with the gradient {gradient} is {got}; it should be {wanted}.").format(
                    old=f"`{values}`", gradient=f"`{gradient}`", got=numbers_of(parameter), wanted=numbers_of(meant)
                ),
                run=run,
            )
        if parameter.grad is not None and bool(parameter.grad.any()):
            return wrong(
                _("The step is right. But the gradient is still {gradient}: the next backward would add to it.").format(
                    gradient=numbers_of(parameter.grad)
                ),
                run=run,
            )
    write = calls_that_write(run.report)[0]
    if parameters[0]._version == 0:
        return right(
            _(
                "{write} wrote the leaf. It went through `.data`, so the version counter still says 0: if such a step "
                "came too early, PyTorch would not notice. Under `no_grad` it would."
            ).format(write=spot(write))
        )
    return right(_("{write} wrote the leaf itself, and nothing was recorded.").format(write=spot(write)))


def _untouched_leaf(report: Report, values: str) -> str:
    """Why a leaf is as it was: the call that made a new tensor in its stead."""
    names = (c for c in report.calls if c.kind == "ordinary" and c.callsite is not None and c.callsite.direct)
    bound = [c for c in names if c.callsite is not None and c.callsite.statement != c.callsite.expression]
    if not bound:
        return _("The parameter is as it was: {values}. The report shows no write to it.").format(values=values)
    return _(
        "The parameter is as it was: {values}. {call} made a new tensor, and at most a name in your function "
        "refers to it; whoever holds the parameter never sees it."
    ).format(values=values, call=spot(bound[-1]))
