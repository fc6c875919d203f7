"""Lesson 4: what autograd saves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from inplace_magic.hazards.notes.in_place_saved_nothing import CODE as SAVED_NOTHING
from inplace_magic.language import _, listed
from inplace_magic.lessons.exercise import Exercise, Feedback
from inplace_magic.lessons.judging import raised, right, strangers, wrong
from inplace_magic.lessons.running import Attempt, attempt
from inplace_magic.lessons.telling import calls_that_write, findings_of, is_copy, notes_of, own_calls, spot

CALLS, MAY_WRITE = 5, 2
"""Calls of ``chain``; how many of them may be in-place."""


def _which_raise(functions: Sequence[Callable[[Any], Any]], answer: Collection[str]) -> Feedback:
    unknown = strangers(functions, answer)
    if unknown is not None:
        return unknown
    runs = {function.__name__: _with_backward(function) for function in functions}
    off = [name for name, run in runs.items() if (run.error is not None) != (name in answer)]
    if off:
        return wrong(*(_why(name, runs[name]) for name in off))
    return right(*(_why(name, run) for name, run in runs.items() if run.error is not None))


def _with_backward(function: Callable[[Any], Any]) -> Attempt:
    import torch

    x = torch.tensor([0.5, 1.0], requires_grad=True)

    def forward_and_backward() -> Any:
        result = function(x)
        result.sum().backward()
        return result, x.grad

    return attempt(forward_and_backward)


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


def _chain(chain: Callable[[Any], Any]) -> Feedback:
    import torch

    run = _with_backward(chain)
    if run.error is not None:
        return raised(run)
    x: Any = torch.tensor([0.5, 1.0], requires_grad=True)
    meant: Any = torch.exp(torch.sin(x + 2) + 1) * 3
    meant.sum().backward()
    result, gradient = run.result
    if not torch.equal(result, meant):
        return wrong(
            _("The result is {found} and should be {meant}.").format(
                found=f"`{_rounded(result)}`", meant=f"`{_rounded(meant)}`"
            ),
            run=run,
        )
    if gradient is None or x.grad is None or not torch.allclose(gradient, x.grad):
        return wrong(
            _("The result is right, and the gradient is not: {found} instead of {meant}, without any error.").format(
                found=f"`{_rounded(gradient)}`", meant=f"`{_rounded(x.grad)}`"
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


def _rounded(tensor: Any) -> Any:
    return None if tensor is None else [round(value, 4) for value in tensor.flatten().tolist()]


EXERCISES = (
    Exercise(
        key="4.1",
        judge=_which_raise,
        hints=(
            lambda: _("For each write, ask: had anything saved this tensor before?"),
            lambda: _("`exp` and `relu` keep their result, `sin` keeps its input, a sum keeps nothing."),
        ),
        solution='answer = {"a", "c", "e"}',
        because=lambda: _(
            "`a` and `e` write into a result that was kept, `c` into an input that was kept. `b` and `d` write what "
            "nobody kept, and `f` writes before it saves."
        ),
    ),
    Exercise(
        key="4.2",
        judge=_chain,
        hints=(
            lambda: _(
                "Go through the chain and note what each call keeps. What is kept may not be written afterwards."
            ),
            lambda: _("`t` is kept by `sin`. `u` is kept by nobody, and so is `v`. `w` is kept by `exp`."),
            lambda: _("`u.add_(1)` and then `exp_` on the same tensor: `exp_` writes first and saves afterwards."),
        ),
        solution=("def chain(x):\n    t = x + 2\n    u = torch.sin(t)\n    u.add_(1)\n    u.exp_()\n    return u * 3"),
        because=lambda: _(
            "`sin` keeps its input `t`, so its result may be written. `exp_` keeps what it wrote, so nothing may write "
            "after it."
        ),
    ),
)
