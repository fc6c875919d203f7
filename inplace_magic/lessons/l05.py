"""Lesson 5: reading the error, finding the line, fixing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inplace_magic.hazards import Hazard
from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import raised, right, rounded, wrong
from inplace_magic.lessons.running import Attempt, attempt_with_backward
from inplace_magic.lessons.telling import calls_that_write, findings_of, line_of, spot


def saver_and_culprit(program: Callable[[Any], Any], answer: Mapping[str, int]) -> Feedback:
    import torch

    if set(answer) != {"saved", "overwritten"}:
        return wrong(_('`answer` needs two entries: `"saved"` and `"overwritten"`, each with a line number.'))
    x = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    run = attempt_with_backward(program, x)
    found = next((each for each in run.report.findings if each.saved is not None and each.mutation is not None), None)
    if run.error is None or found is None or found.saved is None or found.mutation is None:
        return wrong(_("`program` was changed: backward raised no error that the report could explain."), run=run)
    off = []
    if answer["overwritten"] != found.mutation.line:
        off.append(_about_write(run, answer["overwritten"]))
    if answer["saved"] != found.saved.line:
        off.append(
            _(
                "Line {line} is not where it was saved. The tensor to look for is the one that was "
                "overwritten later, `{name}`."
            ).format(line=answer["saved"], name=found.variable)
        )
    if off:
        return wrong(*off)
    return right(*findings_of(run.report))


def _about_write(run: Attempt, line: int) -> str:
    call = next((call for call in calls_that_write(run.report) if line_of(call) == line), None)
    if call is None:
        return _("Line {line} wrote into no tensor: none of its calls is in-place.").format(line=line)
    return _("{call} did write, but nobody had saved the tensor that it wrote. Look for another write.").format(
        call=spot(call)
    )


def rolled_out(rollout: Callable[[Any], Any]) -> Feedback:
    import torch

    x = torch.tensor([0.5, -1.0], requires_grad=True)
    run = attempt_with_backward(rollout, x)
    if run.error is not None:
        return raised(run)
    twin: Any = torch.tensor([0.5, -1.0], requires_grad=True)
    meant: Any = torch.zeros(2)
    state = meant
    for _step in range(3):
        new = torch.tanh(state + twin)
        meant = meant + new
        state = new * 0.5
    meant.sum().backward()
    if not torch.allclose(run.result, meant):
        return wrong(
            _("Backward runs, but the result is {found} and was meant to be {meant}.").format(
                found=f"`{rounded(run.result)}`", meant=f"`{rounded(meant)}`"
            ),
            run=run,
        )
    serious: list[Hazard] = [each for each in run.report.findings if each.is_alarm]
    if x.grad is None or not torch.allclose(x.grad, twin.grad):
        return wrong(
            _("The result is right and no error came. But the gradient is {found} instead of {meant}.").format(
                found=f"`{rounded(x.grad)}`", meant=f"`{rounded(twin.grad)}`"
            ),
            run=run,
        )
    if serious:
        return wrong(_("The numbers are right. But the report still has something to say."), run=run)
    return right(
        _("Result and gradient are right: {gradient}. No write touches what `tanh` keeps.").format(
            gradient=f"`{rounded(x.grad)}`"
        )
    )
