"""Of many calls in a row that are the same write, one row tells what a full record tells of all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import pytest
import torch
from capture.watching import LEVELS, report_of

import inplace_magic
from inplace_magic.capture.past.repeats import FULL
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report

MANY = FULL + 60
NEW = FULL + 20
"""The pass in which something is new."""


def writes(x: torch.Tensor) -> None:
    for _ in range(MANY):
        x.add_(1)


def writes_by_operator(x: torch.Tensor) -> None:
    for _ in range(MANY):
        x *= 0.5


def writes_at_two_places(x: torch.Tensor) -> None:
    for _ in range(MANY):
        x.add_(1)
        x.mul_(0.5)


def writes_by_two_callers(x: torch.Tensor) -> None:
    def written() -> None:
        x.add_(1)

    for _ in range(MANY):
        written()
    for _ in range(MANY):
        written()


def is_read_once(x: torch.Tensor) -> None:
    for step in range(MANY):
        x.add_(1)
        if step == NEW:
            x.sum()


def is_saved_once(x: torch.Tensor) -> None:
    weight = torch.ones(3, requires_grad=True)
    for step in range(MANY):
        if step == NEW:
            product = (weight * x).sum()
        x.add_(1)
    with pytest.raises(RuntimeError):
        product.backward()


def is_saved_before(x: torch.Tensor) -> None:
    product = (torch.ones(3, requires_grad=True) * x).sum()
    for _ in range(MANY):
        x.add_(1)
    with pytest.raises(RuntimeError):
        product.backward()


class Keeping(torch.autograd.Function):
    """Saves a tensor that no call of PyTorch's touches."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(kept)
        return weight.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (kept,) = ctx.saved_tensors
        return grad * kept, None


def is_kept_by_a_function_of_the_users(x: torch.Tensor) -> None:
    weight = torch.ones(3, requires_grad=True)
    for step in range(MANY):
        if step == NEW:
            product = Keeping.apply(weight, x)
        x.add_(1)
    with pytest.raises(RuntimeError):
        product.sum().backward()


def gets_a_view(x: torch.Tensor) -> None:
    for step in range(MANY):
        x.add_(1)
        if step == NEW:
            view = x[1:]
    for _ in range(MANY):
        view.add_(1)
    x.add_(1)


def is_written_past_its_counter(x: torch.Tensor) -> None:
    other = x.data
    for _ in range(MANY):
        x.add_(1)
    for _ in range(MANY):
        other.add_(1)


def is_written_unseen(x: torch.Tensor) -> None:
    for step in range(MANY):
        x.add_(1)
        if step == NEW:
            with torch._C.DisableTorchFunction():
                x.add_(1)


def is_given_away(x: torch.Tensor) -> None:
    for step in range(MANY):
        x.add_(1)
        if step == NEW:
            array = x.numpy()
    array[0] = 7
    x.add_(1)


def is_moved(x: torch.Tensor) -> None:
    for step in range(MANY):
        x.add_(1)
        if step == NEW:
            x.data = torch.zeros(4)


def something_dies(x: torch.Tensor) -> None:
    others = [torch.zeros(2)]
    for step in range(MANY):
        x.add_(1)
        if step == NEW:
            others.clear()


def is_refused(x: torch.Tensor) -> None:
    whole = x.long()
    for step in range(MANY):
        try:
            whole.add_(0.5 if step == NEW else 1)
        except RuntimeError:
            continue


def gets_another_argument(x: torch.Tensor) -> None:
    one = torch.ones(3)
    for step in range(MANY):
        x.add_(one if step == NEW else 1)


def overflows(x: torch.Tensor) -> None:
    small = x.to(torch.uint8)
    for _ in range(300):
        small.add_(1)


def changes_the_mode(x: torch.Tensor) -> None:
    for step in range(MANY):
        torch.set_grad_enabled(step < NEW)
        x.add_(1)
    torch.set_grad_enabled(True)


def autograd_follows(x: torch.Tensor) -> None:
    leaf = torch.ones(3, requires_grad=True)
    for _ in range(MANY):
        with torch.no_grad():
            leaf.add_(1)


def draws(x: torch.Tensor) -> None:
    for _ in range(MANY):
        x.uniform_(0, 1)


def dies_in_the_end(x: torch.Tensor) -> None:
    other = torch.zeros(2)
    for _ in range(MANY):
        other.add_(1)


BRIEF = (
    *(writes, writes_by_operator, writes_by_two_callers, is_read_once, is_saved_once, is_saved_before, gets_a_view),
    *(is_written_unseen, something_dies, is_refused, changes_the_mode, draws, dies_in_the_end),
    *(gets_another_argument, is_moved, is_given_away, is_kept_by_a_function_of_the_users),
)
FULLY = (writes_at_two_places, is_written_past_its_counter, overflows, autograd_follows)
"""Nothing of these is brief: what could be missed is more than what is spared."""


UNKNOWN = (is_written_unseen, is_moved, dies_in_the_end)
"""When somebody looks again, the values that the last pass wrote are there no longer."""


def watched(program: Callable[[torch.Tensor], None], level: str, **options: Any) -> tuple[Report, torch.Tensor]:
    torch.manual_seed(0)
    x = torch.zeros(3)
    with warnings.catch_warnings(), inplace_magic.watch(level=level, **options) as w:
        program(x)
    return report_of(w), x


def seen(meta: TensorMetadata) -> tuple[object, ...]:
    return meta.tensor, meta.version, meta.storage, meta.counter, meta.shape, meta.requires_grad, meta.node


def told(calls: list[CallEvent], begun: int) -> tuple[object, ...]:
    """What one row says of several calls; `begun` is PyTorch's number for the next node when the first call began."""
    first, last = calls[0], calls[-1]
    changes = tuple(
        (one.tensor, one.version_before, other.version_after)
        for one, other in zip(first.mutations, last.mutations, strict=True)
    )
    return (
        *(first.name, first.kind, first.callsite, first.error, last.error, first.grad_enabled, first.parent),
        *(tuple(map(seen, first.inputs)), tuple(map(seen, last.outputs)), changes, (first.sequence or 0) - begun),
    )


def rows(trace: Trace, passes: list[int]) -> list[tuple[object, ...]]:
    """What the calls of a trace say, as many of them at once as `passes` says each time."""
    calls = iter(trace.calls)
    begun = trace.calls[0].sequence or 0
    return [told([next(calls) for _ in range(count)], begun) for count in passes]


def ends(trace: Trace, passes: list[int]) -> list[tuple[CallEvent, CallEvent]]:
    """The first and the last of as many calls each time."""
    ran = [0, *accumulate(passes)]
    return [(trace.calls[first], trace.calls[after - 1]) for first, after in pairwise(ran)]


@pytest.mark.parametrize("program", [*BRIEF, *FULLY])
@pytest.mark.parametrize("level", LEVELS)
def test_a_brief_record_says_what_the_full_one_says(program: Callable[[torch.Tensor], None], level: str) -> None:
    full, expected = watched(program, level, full=True)
    brief, x = watched(program, level)
    passes = [call.passes for call in brief.trace.calls]

    assert x.tolist() == expected.tolist()
    assert x._version == expected._version
    assert {call.passes for call in full.trace.calls} == {1}
    assert brief.trace.ran == full.trace.ran == sum(passes) == len(full.trace.calls)
    assert rows(brief.trace, [1] * len(passes)) == rows(full.trace, passes)
    for one, (first, last) in zip(brief.trace.calls, ends(full.trace, passes), strict=True):
        values = [each.values_before for each in one.mutations], [each.values_after for each in one.mutations]
        known = [each.values_before for each in first.mutations], [each.values_after for each in last.mutations]
        assert values == known or (program in UNKNOWN and one.passes > 1 and values == ([None], [None]))
    assert [(each.code, each.mutation, each.saved, each.found_version, each.variable) for each in brief.hazards] == [
        (each.code, each.mutation, each.saved, each.found_version, each.variable) for each in full.hazards
    ]
    assert [(each.counter, each.version_before, each.version_after) for each in brief.trace.unseen] == [
        (each.counter, each.version_before, each.version_after) for each in full.trace.unseen
    ]
    assert [(each.name, each.version) for each in brief.trace.saved] == [
        (each.name, each.version) for each in full.trace.saved
    ]
    assert (max(passes) > 1) == (program in BRIEF)


@pytest.mark.parametrize("level", LEVELS)
def test_the_report_counts_every_call_and_says_which_have_no_row(level: str) -> None:
    report, x = watched(writes, level)
    text = report.to_text()

    assert x.tolist() == [MANY] * 3
    assert f"{MANY} torch calls, {MANY - FULL} of them only counted, {MANY} of them in-place" in text
    assert f"in {MANY} writes" in text
    assert [line for line in report.blindness if line.startswith(f"{MANY - FULL} calls repeated")]
    assert f"{MANY - 1} more passes" in report.to_html()
    assert f"{MANY - 1} writes in place" in report.to_dot()
    assert Report.from_json(report.to_json()).trace.ran == MANY


def test_an_interrupt_within_such_a_loop_stays_the_users_and_no_write_is_lost() -> None:
    x = torch.zeros(3)

    def interrupted() -> None:
        for step in range(MANY):
            x.add_(1)
            if step == NEW:
                raise KeyboardInterrupt

    watch = inplace_magic.watch()
    with pytest.raises(KeyboardInterrupt), watch:
        interrupted()
    report = report_of(watch)

    assert report.trace.ran == NEW + 1
    assert report.trace.unseen == ()
    assert report.trace.calls[-1].mutations[0].version_after == x._version


def test_what_is_forgotten_of_such_rows_is_counted_too() -> None:
    x = torch.zeros(3)
    with inplace_magic.watch(max_events=200) as w:
        for _ in range(20):
            for _ in range(MANY):
                x.add_(1)
            x.sum()
    trace = report_of(w).trace

    assert trace.discarded > 0
    assert trace.ran == 20 * (MANY + 1)
