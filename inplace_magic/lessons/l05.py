"""Lesson 5: reading the error, finding the line, fixing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inplace_magic.hazards import Hazard
from inplace_magic.language import _
from inplace_magic.lessons.exercise import Exercise, Feedback
from inplace_magic.lessons.judging import raised, right, wrong
from inplace_magic.lessons.running import Attempt, attempt
from inplace_magic.lessons.telling import calls_that_write, findings_of, line_of, spot


def _saver_and_culprit(program: Callable[[Any], Any], answer: Mapping[str, int]) -> Feedback:
    import torch

    if set(answer) != {"saved", "overwritten"}:
        return wrong(_('`answer` needs two entries: `"saved"` and `"overwritten"`, each with a line number.'))
    x = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    run = attempt(lambda: program(x).sum().backward())
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


def _rollout(rollout: Callable[[Any], Any]) -> Feedback:
    import torch

    x = torch.tensor([0.5, -1.0], requires_grad=True)

    def forward_and_backward() -> Any:
        total = rollout(x)
        total.sum().backward()
        return total

    run = attempt(forward_and_backward)
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
                found=f"`{_rounded(run.result)}`", meant=f"`{_rounded(meant)}`"
            ),
            run=run,
        )
    serious: list[Hazard] = [each for each in run.report.findings if each.is_alarm]
    if x.grad is None or not torch.allclose(x.grad, twin.grad):
        return wrong(
            _("The result is right and no error came. But the gradient is {found} instead of {meant}.").format(
                found=f"`{_rounded(x.grad)}`", meant=f"`{_rounded(twin.grad)}`"
            ),
            run=run,
        )
    if serious:
        return wrong(_("The numbers are right. But the report still has something to say."), run=run)
    return right(
        _("Result and gradient are right: {gradient}. No write touches what `tanh` keeps.").format(
            gradient=f"`{_rounded(x.grad)}`"
        )
    )


def _rounded(tensor: Any) -> Any:
    return None if tensor is None else [round(value, 4) for value in tensor.flatten().tolist()]


EXERCISES = (
    Exercise(
        key="5.1",
        judge=_saver_and_culprit,
        hints=(
            lambda: _("There are two writes. Which of the two tensors does backward need?"),
            lambda: _("A sum keeps nothing. The gradient of softmax is computed from its result."),
        ),
        solution='answer = {"saved": 3, "overwritten": 5}',
        because=lambda: _(
            "Softmax keeps its result in line 3, and line 5 writes into it. Line 4 writes `scores`, which nobody kept."
        ),
    ),
    Exercise(
        key="5.2",
        judge=_rollout,
        hints=(
            lambda: _("Put `%%inplace_watch` on a cell that calls `rollout` and backward. Which line does it name?"),
            lambda: _("`tanh` keeps its result, and `state *= 0.5` writes into it. Make a new tensor instead."),
        ),
        solution=(
            "def rollout(x, steps=3):\n"
            "    state = torch.zeros_like(x)\n"
            "    total = torch.zeros_like(x)\n"
            "    for _ in range(steps):\n"
            "        state = torch.tanh(state + x)\n"
            "        total = total + state\n"
            "        state = state * 0.5\n"
            "    return total"
        ),
        because=lambda: _(
            "`state = state * 0.5` makes a new tensor and rebinds the name. What `tanh` kept stays as it was."
        ),
    ),
)
