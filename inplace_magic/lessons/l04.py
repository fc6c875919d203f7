"""Lesson 4: what autograd saves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from inplace_magic.hazards.notes.memory import SAVED_NOTHING
from inplace_magic.language import _, listed
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import numbers_of, refuse_strangers, right, succeeded, wrong
from inplace_magic.lessons.running import Attempt, attempt_with_backward
from inplace_magic.lessons.telling import calls_that_write, findings_of, is_copy, notes_of, own_calls, spot

CALLS, MAY_WRITE = 5, 2
"""Calls of ``chain``; how many of them may be in-place."""


def which_raise(functions: Sequence[Callable[[Any], Any]], answer: Collection[str]) -> Feedback:
    refuse_strangers(functions, answer)
    runs = {function.__name__: attempt_with_backward(function, _input()) for function in functions}
    off = [name for name, run in runs.items() if (run.error is not None) != (name in answer)]
    if off:
        return wrong(*(_why(name, runs[name]) for name in off))
    return right(*(_why(name, run) for name, run in runs.items() if run.error is not None))


def _input() -> Any:
    import torch

    return torch.tensor([0.5, 1.0], requires_grad=True)


def _why(name: str, run: Attempt) -> str:
    if run.error is not None:
        found = findings_of(run.report)
        first = found[0] if found else str(run.error)
        return _("`{name}` raises. {finding}").format(name=name, finding=first)
    written = calls_that_write(run.report)
    if not written:
        return _("`{name}` does not raise: it writes nothing.").format(name=name)
    return _("`{name}` does not raise: when {call} wrote, nobody had saved the tensor that it wrote.").format(
        name=name, call=spot(written[-1])
    )


def chained(chain: Callable[[Any], Any]) -> Feedback:
    import torch

    given, x = _input(), _input()
    run = succeeded(attempt_with_backward(chain, given))
    meant: Any = torch.exp(torch.sin(x + 2) + 1) * 3
    meant.sum().backward()
    result, gradient = run.result, given.grad
    if not torch.equal(result, meant):
        return wrong(
            _("The result is {found} and should be {meant}.").format(found=numbers_of(result), meant=numbers_of(meant)),
            run=run,
        )
    if gradient is None or x.grad is None or not torch.allclose(gradient, x.grad):
        return wrong(
            _("The result is right, and the gradient is not: {found} instead of {meant}, without any error.").format(
                found=numbers_of(gradient), meant=numbers_of(x.grad)
            ),
            run=run,
        )
    written = calls_that_write(run.report)
    making = [call for call in own_calls(run.report) if call.kind == "ordinary" and not is_copy(call)]
    in_place = min(len(written), max(0, CALLS - len(making)))
    if in_place < MAY_WRITE:
        besides = _("{count} of your calls still make a tensor of their own: {calls}.").format(
            count=len(making), calls=listed(spot(call) for call in making)
        )
        return wrong(
            _("Result and gradient are right. In-place so far: {count} of the 2 calls that may be.").format(
                count=in_place
            ),
            *([besides] if len(written) > in_place else []),
            run=run,
        )
    copied = notes_of(run.report, SAVED_NOTHING)
    return right(
        _("In-place, and the gradient is right: {calls}.").format(calls=listed(spot(call) for call in written)),
        *(_("In-place does not mean that memory is saved. {finding}").format(finding=each) for each in copied),
    )
