"""Lessons 4 to 8: what autograd saves; the error and its line; leaves and optimizers; views and version counters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch

from inplace_magic.hazards.notes import SAVED_NOTHING
from inplace_magic.language import _, listed, ngettext
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import (
    Attempt,
    attempt,
    attempt_with_backward,
    numbers_of,
    refuse_strangers,
    right,
    run_of_program,
    succeeded,
    wrong,
)
from inplace_magic.lessons.telling import (
    calls_that_write,
    facts_of,
    findings_of,
    is_copy,
    line_of,
    notes_of,
    own_calls,
    spot,
)
from inplace_magic.report import Report

CALLS, MAY_WRITE = 5, 2
"""Calls of ``chain``; how many of them may be in-place."""


def which_raise(functions: Sequence[Callable[[Any], Any]], answer: Collection[str]) -> Feedback:
    refuse_strangers(functions, answer)
    runs = {function.__name__: attempt_with_backward(function, _input()) for function in functions}
    off = [name for name, run in runs.items() if (run.error is not None) != (name in answer)]
    if off:
        return wrong(*(_why_it_raises(name, runs[name]) for name in off))
    return right(*(_why_it_raises(name, run) for name, run in runs.items() if run.error is not None))


def _input() -> Any:
    return torch.tensor([0.5, 1.0], requires_grad=True)


def _why_it_raises(name: str, run: Attempt) -> str:
    if run.error is not None:
        found = findings_of(run.report)
        return _("`{name}` raises. {finding}").format(name=name, finding=found[0] if found else str(run.error))
    written = calls_that_write(run.report)
    if not written:
        return _("`{name}` does not raise: it writes nothing.").format(name=name)
    text = _("`{name}` does not raise: when {call} wrote, nobody had saved the tensor that it wrote.")
    return text.format(name=name, call=spot(written[-1]))


def chained(chain: Callable[[Any], Any]) -> Feedback:
    given, x = _input(), _input()
    run = succeeded(attempt_with_backward(chain, given))
    meant: Any = torch.exp(torch.sin(x + 2) + 1) * 3
    meant.sum().backward()
    result, gradient = run.result, given.grad
    if not torch.equal(result, meant):
        text = _("The result is {found} and should be {meant}.")
        return wrong(text.format(found=numbers_of(result), meant=numbers_of(meant)), run=run)
    if gradient is None or x.grad is None or not torch.allclose(gradient, x.grad):
        text = _("The result is right, and the gradient is not: {found} instead of {meant}, without any error.")
        return wrong(text.format(found=numbers_of(gradient), meant=numbers_of(x.grad)), run=run)
    written = calls_that_write(run.report)
    making = [call for call in own_calls(run.report) if call.kind == "ordinary" and not is_copy(call)]
    in_place = min(len(written), max(0, CALLS - len(making)))
    if in_place < MAY_WRITE:
        text = _("Result and gradient are right. In-place so far: {count} of the 2 calls that may be.")
        besides = _("{count} of your calls still make a tensor of their own: {calls}.")
        made = besides.format(count=len(making), calls=listed(map(spot, making)))
        return wrong(text.format(count=in_place), *([made] if len(written) > in_place else []), run=run)
    copied = notes_of(run.report, SAVED_NOTHING)
    return right(
        _("In-place, and the gradient is right: {calls}.").format(calls=listed(map(spot, written))),
        *(_("In-place does not mean that memory is saved. {finding}").format(finding=each) for each in copied),
    )


def saver_and_culprit(program: Callable[[Any], Any], answer: Mapping[str, int]) -> Feedback:
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
        text = _(
            "Line {line} is not where it was saved. The tensor to look for is the one that was overwritten later, "
            "`{name}`."
        )
        off.append(text.format(line=answer["saved"], name=found.variable))
    return wrong(*off) if off else right(*findings_of(run.report))


def _about_write(run: Attempt, line: int) -> str:
    call = next((call for call in calls_that_write(run.report) if line_of(call) == line), None)
    if call is None:
        return _("Line {line} wrote into no tensor: none of its calls is in-place.").format(line=line)
    text = _("{call} did write, but nobody had saved the tensor that it wrote. Look for another write.")
    return text.format(call=spot(call))


LR = 0.5


def stepped(sgd_step: Callable[..., Any]) -> Feedback:
    old, gradients = ([1.0, 2.0], [-4.0]), ([2.0, -2.0], [4.0])
    parameters = [torch.tensor(values, requires_grad=True) for values in old]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(gradient)
    run = succeeded(attempt(sgd_step, parameters, LR))
    if findings_of(run.report):
        return wrong(_("The report on your version still has a finding."), run=run)
    for parameter, values, gradient in zip(parameters, old, gradients, strict=True):
        meant, got = torch.tensor(values) - LR * torch.tensor(gradient), numbers_of(parameter)
        if parameter.tolist() == values:
            return wrong(_untouched_leaf(run.report, got), run=run)
        if not torch.allclose(parameter.detach(), meant):
            text = _("A parameter that was {old} with the gradient {gradient} is {got}; it should be {wanted}.")
            told = text.format(old=f"`{values}`", gradient=f"`{gradient}`", got=got, wanted=numbers_of(meant))
            return wrong(told, run=run)
        if parameter.grad is not None and bool(parameter.grad.any()):
            text = _("The step is right. But the gradient is still {gradient}: the next backward would add to it.")
            return wrong(text.format(gradient=numbers_of(parameter.grad)), run=run)
    text = _("{write} wrote the leaf itself, and nothing was recorded.")
    if parameters[0]._version == 0:
        text = _(
            "{write} wrote the leaf. It went through `.data`, so the version counter still says 0: if such a step came "
            "too early, PyTorch would not notice. Under `no_grad` it would."
        )
    return right(text.format(write=spot(calls_that_write(run.report)[0])))


def _untouched_leaf(report: Report, values: str) -> str:
    """Why a leaf is as it was: the call that made a new tensor in its stead."""
    names = (c for c in report.calls if c.kind == "ordinary" and c.callsite is not None and c.callsite.direct)
    bound = [c for c in names if c.callsite is not None and c.callsite.statement != c.callsite.expression]
    if not bound:
        return _("The parameter is as it was: {values}. The report shows no write to it.").format(values=values)
    text = _(
        "The parameter is as it was: {values}. {call} made a new tensor, and at most a name in your function refers to "
        "it; whoever holds the parameter never sees it."
    )
    return text.format(values=values, call=spot(bound[-1]))


def versions(program: Callable[[], Any], answer: Mapping[str, Any]) -> Feedback:
    run = run_of_program(program)
    if not isinstance(answer, Mapping) or answer.keys() != run.result.keys():
        names = ", ".join(f"`{name}`" for name in run.result)
        return wrong(_("Give one number for each of {names}, as in the cell.").format(names=names))
    missed = [name for name, tensor in run.result.items() if answer[name] != tensor._version]
    if missed:
        return wrong(*(_why_this_version(run, name) for name in missed), run=run)
    telling = ("row", "data") if {"row", "data"} <= run.result.keys() else ()
    return right(*(_why_this_version(run, name) for name in telling))


def _why_this_version(run: Attempt, name: str) -> str:
    """The version of a variable, told by the writes that moved its counter."""
    known = {other: facts_of(run.report, held) for other, held in run.result.items()}
    counters = {other: facts.counter if facts is not None else None for other, facts in known.items()}
    counter = counters.pop(name)
    writes = [c for c in calls_that_write(run.report) if any(m.counter == counter for m in c.mutations)]
    others = [other for other, each in counters.items() if each == counter]
    if not writes:
        text = _("`{name}` is at version {version}: no write moved its counter.")
    elif others:
        text = ngettext(
            "`{name}` is at version {version}: {write} moved its counter, which it shares with {names}.",
            "`{name}` is at version {version}: {count} writes moved its counter, which it shares with {names}; the "
            "first is {write}.",
            len(writes),
        )
    else:
        text = ngettext(
            "`{name}` is at version {version}: {write} moved its counter, which it has to itself.",
            "`{name}` is at version {version}: {count} writes moved its counter, which it has to itself; the first is "
            "{write}.",
            len(writes),
        )
    shared = ", ".join(f"`{other}`" for other in others)
    first = spot(writes[0]) if writes else ""
    version = run.result[name]._version
    return text.format(name=name, version=version, count=len(writes), write=first, names=shared)


JUDGES: dict[str, Callable[..., Feedback]] = {
    "4.1": which_raise,
    "4.2": chained,
    "5.1": saver_and_culprit,
    "6.1": stepped,
    "8.1": versions,
}
