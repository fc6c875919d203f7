"""Calls that are given hundreds of tensors at once, as an optimizer's ``foreach`` gives them: the work grows with the
tensors, and not with their square.

Counted are the lines of ours that Python runs, by its trace function; no clock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch

import inplace_magic
from inplace_magic import watch

OURS = str(Path(inplace_magic.__file__).parent)
LENGTHS = (30, 60, 120)
"""So few that a watch does not begin to pack its calls."""


def lines_run(work: Callable[[], object]) -> int:
    count = 0

    def within(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return within

    def called(frame: FrameType, _event: str, _arg: Any) -> Any:
        return within if frame.f_code.co_filename.startswith(OURS) else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def adam(count: int, **options: bool) -> Callable[[], object]:
    parameters = [torch.nn.Parameter(torch.randn(2)) for _ in range(count)]
    optimizer = torch.optim.Adam(parameters, **options)
    torch.stack(parameters).square().sum().backward()
    optimizer.step()
    return optimizer.step


def parts_of_one(count: int) -> Callable[[], object]:
    whole = torch.zeros(2 * count)
    return lambda: torch._foreach_add_(list(whole.split(2)), 1.0)


STEPS = {
    "foreach": lambda count: adam(count, foreach=True),
    "fused": lambda count: adam(count, fused=True),
    "parts of one memory": parts_of_one,
}


@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("name", STEPS)
def test_the_work_for_a_call_and_its_report_grows_in_step_with_its_tensors(name: str, level: str) -> None:
    counts = []
    for length in (4, *LENGTHS):  # what is read and loaded once is so for the first
        step, w = STEPS[name](length), watch(level=level)
        w.start()
        count = lines_run(step)
        w.leave()
        count += lines_run(w.stop)
        assert w.report is not None
        assert w.report.faults == []
        counts.append(count)
    _first, short, middle, long = counts
    assert long - middle <= 2.3 * (middle - short), counts


@pytest.mark.parametrize("count", [2, 40])
def test_of_many_tensors_each_is_told_as_of_a_few(count: int) -> None:
    """Of up to four the results are gone through one by one, of more they are looked up."""
    whole, others = torch.zeros(count), [torch.ones(1) for _ in range(count)]
    with watch() as w:
        parts = list(whole.split(1))
        made = torch._foreach_add(others, 1.0)
        torch._foreach_mul_([*others, *parts], 2.0)
        torch.atleast_1d(*parts)
    assert w.report is not None
    split, added, scaled, given_back = w.report.trace.calls
    assert {meta.storage for meta in split.outputs} == {split.inputs[0].storage}
    assert all(meta.is_view for meta in split.outputs)
    assert (added.kind, len({meta.storage for meta in added.outputs})) == ("ordinary", count)
    assert (scaled.kind, len(scaled.mutations)) == ("in-place", count + 1), "the parts are one memory, written once"
    assert given_back.kind in ("view", "query")
    assert [meta.tensor for meta in given_back.outputs] == [meta.tensor for meta in given_back.inputs]
    assert [tensor.item() for tensor in others] == [2.0] * count
    assert [tensor.item() for tensor in made] == [2.0] * count
