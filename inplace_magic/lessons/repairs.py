"""Exercises with a broken program. The learner's version runs under a watch: its report must be quiet, and its results
must be those of the course's own solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import Attempt, attempt, numbers_of, raised, right, wrong
from inplace_magic.lessons.telling import calls_that_write, findings_of, is_copy, line_of, own_calls, spot
from inplace_magic.record.events import CallEvent
from inplace_magic.report import Report

MAX_NUMBERS = 12
"""A tensor of more elements is not written out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    inputs: Callable[[], tuple[Any, ...]]
    """Fresh inputs, the same ones each time."""
    run: Callable[..., Mapping[str, Any]]
    """``run(function, *inputs)``: results and gradients by name, to be compared; runs backward where there is one."""
    why: Callable[[Attempt], str] | None = None
    """What else the report shows of an answer that is not right; "" where it shows nothing."""
    harmless: tuple[str, str] | None = None
    """An in-place operation that shall stay, as a call is named and as the program has it: ``("div_", "a /= b")``."""

    def judge(self, function: Callable[..., Any], solution: str) -> Feedback:
        """What is said of the learner's function, which is meant to do what the solution does."""
        wanted = self.run(_function_in(solution), *self.inputs())
        run = attempt(self.run, function, *self.inputs())
        found = findings_of(run.report)
        if run.error is not None:
            told = raised(run).sentences[:1]
            return wrong(*told, *(() if found else self._reasons(run, values=True, gradients=True)), run=run)
        if found:
            return wrong(_("The report on your version still has a finding."), run=run)
        different = [name for name, value in wanted.items() if not _same(run.result[name], value)]
        if different:
            sentences = [_difference(name, run.result[name], wanted[name]) for name in different[:2]]
            gradients = [name.endswith(".grad") for name in different]
            reasons = self._reasons(run, values=not all(gradients), gradients=any(gradients))
            text = _("The report is quiet, but the program does not do what was meant.")
            return wrong(text, *sentences, *reasons, run=run)
        if self.harmless is not None and self.harmless[0] not in [c.operation for c in calls_that_write(run.report)]:
            text = _(
                "The report is quiet and the numbers are right. But {line} did no harm: nobody had saved the tensor "
                "that it wrote. Leave it as it was."
            )
            return wrong(text.format(line=f"`{self.harmless[1]}`"), run=run)
        text = _("The report has nothing to complain about, and the values are the intended ones: {names}.")
        return right(text.format(names=", ".join(f"`{name}`" for name in wanted)))

    def _reasons(self, run: Attempt, *, values: bool, gradients: bool) -> list[str]:
        """What in the report can be why a quiet program computes other values, other gradients, or both."""
        own = self.why(run) if self.why is not None else ""
        if own:
            return [own]
        report = run.report
        found = [_unused(report), _copied_late(report), _seen_through_a_view(report)] if values else []
        found += [_cut(report)] if gradients else []
        return [reason for reason in found if reason]


def _function_in(solution: str) -> Callable[..., Any]:
    """The function that a solution of the course defines."""
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    exec(solution, names)
    function: Callable[..., Any] = names.popitem()[1]
    return function


def _same(got: Any, wanted: Any) -> bool:
    if not isinstance(got, torch.Tensor) or not isinstance(wanted, torch.Tensor):
        return got is None and wanted is None
    return got.shape == wanted.shape and torch.allclose(got.detach().double(), wanted.detach().double(), atol=1e-5)


def _difference(name: str, got: Any, wanted: Any) -> str:
    if got is None:
        return _("`{name}` should have a gradient, and has none.").format(name=name)
    if not isinstance(got, torch.Tensor):
        text = _("`{name}` should be a tensor, and is an object of type `{kind}`.")
        return text.format(name=name, kind=type(got).__name__)
    if got.shape != wanted.shape:
        text = _("`{name}` has shape {got}; it should be {wanted}.")
        return text.format(name=name, got=list(got.shape), wanted=list(wanted.shape))
    if wanted.numel() <= MAX_NUMBERS:
        text = _("`{name}` is {got}; it should be {wanted}.")
        return text.format(name=name, got=numbers_of(got), wanted=numbers_of(wanted))
    count = int((~torch.isclose(got.double(), wanted.double(), atol=1e-5)).sum())
    text = _("`{name}` differs from what was meant in {count} of {all} elements.")
    return text.format(name=name, count=count, all=wanted.numel())


def _unused(report: Report) -> str:
    """A call that stands alone on its line and writes nothing: what it gave is gone."""
    for call in report.calls:
        site = call.callsite
        if site is not None and site.direct and call.kind == "ordinary" and site.statement == site.expression:
            text = _("{call} writes nothing: it made a new tensor, and no name was bound to it.")
            return text.format(call=spot(call))
    return ""


def _copied_late(report: Report) -> str:
    """A copy that was made after the tensor had been written."""
    for copy in report.calls:
        if is_copy(copy) and copy.inputs and copy.callsite is not None:
            write = _write_of(report.calls[: copy.index], copy.inputs[0].storage)
            if write is not None and (line_of(write) or 0) < (line_of(copy) or 0):
                text = _("{copy} made its copy after {write} had written the tensor: the copy holds the new values.")
                return text.format(copy=spot(copy), write=spot(write))
    return ""


def _seen_through_a_view(report: Report) -> str:
    """A view through which a later write of the same memory is seen."""
    for view in report.calls:
        named = view.callsite is not None and "=" in view.callsite.text
        if view.kind == "view" and view.outputs and named:
            write = _write_of(report.calls[view.index + 1 :], view.outputs[0].storage)
            if write is not None and line_of(write) != line_of(view):
                text = _("{view} gave a view, which is no copy: {write} wrote the same memory afterwards.")
                return text.format(view=spot(view), write=spot(write))
    return ""


def _cut(report: Report) -> str:
    """A call of the learner's code at which gradients end: it got a tensor that requires grad and gave one that does
    not, and something was computed with that one."""
    for call in own_calls(report):
        outputs = [out for out in call.outputs if "float" in out.dtype]
        site = call.callsite
        ends = any(each.requires_grad for each in call.inputs) and not any(out.requires_grad for out in outputs)
        if site is not None and site.direct and call.kind != "query" and outputs and ends and _is_used(report, call):
            text = _(
                "{cut} got a tensor that requires grad and gave one that does not: no gradient goes back through it."
            )
            return text.format(cut=spot(call))
    return ""


def _is_used(report: Report, call: CallEvent) -> bool:
    """Whether a later call read what this one gave; a call that only wrote it did not."""
    given = {out.tensor for out in call.outputs}
    for later in report.calls[call.index + 1 :]:
        written = {mutation.tensor for mutation in later.mutations}
        if given & {each.tensor for each in later.inputs} - written:
            return True
    return False


def _write_of(calls: Sequence[CallEvent], storage: int | None) -> CallEvent | None:
    """The first of these calls that wrote the storage from a line of the learner's."""
    writes = (call for call in calls if call.callsite is not None and call.parent is None)
    return next((call for call in writes if any(m.storage == storage for m in call.mutations)), None)
