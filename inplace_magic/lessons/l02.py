"""Lesson 2: the three kinds of operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import right, succeeded, wrong
from inplace_magic.lessons.running import attempt
from inplace_magic.lessons.telling import calls_that_write, doings_of, line_of, spot, what_happened
from inplace_magic.record.events import CallEvent

KINDS = ("ordinary", "view", "in-place")


def name_the_kinds(program: Callable[[Any], Any], answer: Mapping[int, str]) -> Feedback:
    import torch

    strange = sorted({str(kind) for kind in answer.values()} - set(KINDS))
    if strange:
        return wrong(
            _("`{answer}` is not one of the kinds; write {kinds}.").format(
                answer=strange[0], kinds=", ".join(f'`"{kind}"`' for kind in KINDS)
            )
        )
    run = succeeded(attempt(program, torch.tensor([[-3.0, -2.0, -1.0], [0.0, 1.0, 2.0]])))
    rows = what_happened(run.report)
    of_line = {line: _deciding(run.report.calls, line) for line in answer}
    lost = [line for line, call in of_line.items() if call is None]
    if lost:
        return wrong(_("Line {line} of `program` made no torch call.").format(line=lost[0]), run=run)
    off = [call for line, call in of_line.items() if call is not None and call.kind != answer[line]]
    if off:
        return wrong(*(_kind_of(call, doings_of(call, rows)) for call in off))
    return right(
        _("Seven lines, all named correctly. {count} of them wrote into memory that was there already.").format(
            count=sum(kind == "in-place" for kind in answer.values())
        )
    )


def _deciding(calls: list[CallEvent], line: int) -> CallEvent | None:
    """The call of a line that gives it its kind: one that writes, else the last."""
    here = [call for call in calls if line_of(call) == line and call.kind in KINDS]
    return next((call for call in here if call.kind == "in-place"), here[-1] if here else None)


def _kind_of(call: CallEvent, doings: str) -> str:
    text = {
        "ordinary": _("{call} is ordinary: {doings}. It took new memory, and wrote into no existing tensor."),
        "view": _("{call} is a view: {doings}. It is another tensor, and the memory was there already."),
        "in-place": _("{call} is in-place: {doings}. It wrote into a tensor that existed already."),
    }[call.kind]
    return text.format(call=spot(call), doings=doings)


def doubled(double_first_column: Callable[[Any], Any]) -> Feedback:
    import torch

    m = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    run = succeeded(attempt(double_first_column, m))
    if m.tolist() != [[2.0, 2.0, 3.0], [8.0, 5.0, 6.0]]:
        if not calls_that_write(run.report):
            return wrong(_("The matrix is as it was: none of your calls was in-place."), run=run)
        return wrong(
            _("The matrix was written, but it holds {values} now; only its first column should be doubled.").format(
                values=f"`{m.tolist()}`"
            ),
            run=run,
        )
    made = [call for call in run.report.calls if call.kind == "ordinary"]
    if made:
        return wrong(_("The numbers are right. But {call} took new memory.").format(call=spot(made[0])), run=run)
    return right(
        _("{call} wrote through a view: no new memory was taken, and the caller's matrix holds the result.").format(
            call=spot(calls_that_write(run.report)[0])
        )
    )
