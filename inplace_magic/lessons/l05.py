"""Lesson 5: reading the error, finding the line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import right, wrong
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
