"""Cells that nobody would write behave under the watch as they do plainly, and are told as they were.

``python tests/no_harm/fuzz/run.py`` runs more of them with other seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from no_harm.fuzz import judge as judging
from no_harm.fuzz.cells import Block, Cell, Line
from no_harm.fuzz.judge import judge, run_watched
from no_harm.fuzz.making import make_cell
from no_harm.fuzz.oracle import Ran, observe
from no_harm.fuzz.shrink import cut_down, numbered

from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report

CELLS = st.integers(0, 2**64 - 1).map(lambda seed: make_cell(Random(seed)))
FUZZ = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],  # a smaller seed is no smaller cell; cut_down takes statements away instead
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize(("level", "programs"), [("calls", 2000), ("ops", 400)])
def test_a_watched_cell_ends_as_a_plain_one_and_is_told_as_it_was(level: str, programs: int) -> None:
    counted: Counter[str] = Counter()

    @settings(FUZZ, max_examples=programs)
    @given(CELLS)
    def agrees(cell: Cell) -> None:
        verdict = judge(cell, level)
        counted.update(run=1, raised=verdict.raised, version=verdict.version_error, checked=verdict.linked)
        if verdict.disagreements:
            small = cut_down(cell, level)
            pytest.fail("\n".join((numbered(small), *judge(small, level).disagreements)))

    agrees()
    print(f"fuzz at level {level}: {dict(counted)}")
    assert counted["run"] >= programs
    assert counted["checked"] > programs, "the oracle lost sight of the variables"
    assert programs / 5 < counted["raised"] < programs * 4 / 5
    assert counted["version"] > programs / 50


SIGMOID = Cell(
    (
        Line("x = torch.ones(3, requires_grad=True)", ("x",)),
        Line("y = torch.sigmoid(x)", ("y",)),
        Line("z = y[1:]", ("z",)),
        Line("z *= 2"),
        Line("y.sum().backward()", backward=True),
    )
)
FIRST = SIGMOID.source().count("\n") - 4
"""The line of the first statement."""


def test_the_oracle_sees_versions_storages_and_errors_by_itself() -> None:
    made, sigmoid, view, write, backward = observe(SIGMOID)

    assert [step.line for step in (made, sigmoid, view, write, backward)] == list(range(FIRST, FIRST + 5))
    assert (made.moved, sigmoid.moved, view.moved) == ({}, {}, {})
    y, z = view.bound["y"], view.bound["z"]
    assert view.after[y].storage == view.after[z].storage != view.after[view.bound["x"]].storage
    assert write.moved == {y: (0, 1), z: (0, 1)}
    assert write.after[z].values == tuple(2 * value for value in write.before[z].values)
    assert backward.error is not None
    assert "expected version 0 instead" in backward.error


def test_what_raised_inside_try_is_one_execution_and_its_handler_the_next() -> None:
    cell = Cell(
        (
            Line("x = torch.ones(3, requires_grad=True)", ("x",)),
            Block("try:", (Line("x += 1"), Line("y = x * 2", ("y",))), (Line("y = x * 3", ("y",)),)),
        )
    )
    lines = cell.source().splitlines()

    ran = [(lines[step.line - 1].strip(), (step.error or "")[:12]) for step in observe(cell)]

    assert ran[1:] == [("x += 1", "RuntimeError"), ("y = x * 3", "")]


def _first_write_forgotten(report: Report) -> Report:
    return _with_calls(report, lambda call: replace(call, mutations=()))


def _versions_off_by_one(report: Report) -> Report:
    return _with_calls(
        report,
        lambda call: replace(
            call, mutations=tuple(replace(m, version_after=(m.version_after or 0) + 1) for m in call.mutations)
        ),
    )


def _views_told_as_ordinary(report: Report) -> Report:
    return _with_calls(report, lambda call: replace(call, kind="ordinary") if call.kind == "view" else call)


def _a_line_too_low(report: Report) -> Report:
    def lower(site: Callsite | None) -> Callsite | None:
        return None if site is None else replace(site, line=site.line + 1)

    return _with_calls(report, lambda call: replace(call, callsite=lower(call.callsite)))


def _another_line_blamed(report: Report) -> Report:
    (hazard,) = report.hazards
    assert hazard.mutation is not None
    return replace(report, findings=(replace(hazard, mutation=replace(hazard.mutation, line=FIRST)),))


def _another_saver_named(report: Report) -> Report:
    (hazard,) = report.hazards
    return replace(report, findings=(replace(hazard, saved_by="MulBackward0"),))


def _nothing_found(report: Report) -> Report:
    return replace(report, findings=())


def _with_calls(report: Report, change: Callable[[CallEvent], CallEvent]) -> Report:
    return replace(report, trace=replace(report.trace, calls=tuple(map(change, report.calls))))


@pytest.mark.parametrize(
    "spoil",
    [
        _first_write_forgotten,
        _versions_off_by_one,
        _views_told_as_ordinary,
        _a_line_too_low,
        _another_line_blamed,
        _another_saver_named,
        _nothing_found,
    ],
)
def test_a_report_that_tells_it_otherwise_is_noticed(
    monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Report], Report]
) -> None:
    assert judge(SIGMOID).disagreements == ()

    def spoiled(source: str, level: str) -> tuple[Ran, Report]:
        ran, report = run_watched(source, level)
        return ran, spoil(report)

    monkeypatch.setattr(judging, "run_watched", spoiled)

    assert judge(SIGMOID).disagreements != ()
