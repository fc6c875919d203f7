"""Twice the calls, twice the work: what a report and its display take grows with the calls, and not with their square.

Counted are the function calls that Python makes on the way, by its profiler; no clock. Of three lengths, the growth
from the second to the third is held against that from the first to the second, so that what does not grow cancels out:
work that is linear doubles, quadratic work grows fourfold.
"""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from typing import Any

import pytest
import shapes
import torch

import inplace_magic
from inplace_magic.analysis.lanes import lanes_of
from inplace_magic.render import to_mimebundle
from inplace_magic.render.reading import Reading
from inplace_magic.report import Report
from inplace_magic.source.remembered import for_the_same_lines

LENGTHS = (400, 800, 1600)
"""Long enough for every table to be full and for the picture to be folded."""

ALL_EVIDENCE = {"one graph", "overwritten activations", "distinct lines"}
"""Where a backward may need every call, or each line made only a few, all calls are kept."""


def work(run: Callable[[], Any]) -> tuple[int, Any]:
    """How many functions were called, Python's and built-in ones."""
    tally = cProfile.Profile()
    result = tally.runcall(run)
    return sum(entry.callcount for entry in tally.getstats()), result


PROGRAMS = {**shapes.SHAPES, **shapes.ONCE_SQUARE}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_work_for_a_report_grows_in_step_with_the_calls(name: str) -> None:
    shapes.record(PROGRAMS[name](50))()._repr_mimebundle_()  # what is loaded once is loaded here
    reports, displays, sizes = [], [], []
    for calls in LENGTHS:
        made, report = work(shapes.record(PROGRAMS[name](calls)))
        shown, bundle = work(lambda report=report: to_mimebundle(report))
        assert not report.faults
        assert "could not show" not in bundle["text/plain"] + bundle["text/html"]
        reports.append(made)
        displays.append(shown)
        sizes.append(sum(len(text) for text in bundle.values()))
    for short, middle, long in (reports, displays):
        assert long - middle <= 2.3 * (middle - short), (reports, displays)
    assert sizes[2] <= 1.1 * sizes[1], "what is shown has its bounds, however long the cell ran"


def test_a_weight_that_every_step_saves_and_writes_takes_no_more_per_step_in_a_longer_loop() -> None:
    counts = []
    for calls in LENGTHS:
        reading = Reading(shapes.record(shapes.training_loop(calls))())
        known = reading.story, reading.graph
        count, lanes = work(lambda known=known: lanes_of(*known))
        assert any(len(lane.kept) > calls // 20 and len(lane.marks) > calls // 20 for lane in lanes)
        counts.append(count)
    assert counts[2] - counts[1] <= 2.3 * (counts[1] - counts[0]), counts


def test_a_program_of_many_files_has_each_of_them_read_once() -> None:
    read: list[str] = []
    listing_of = for_the_same_lines(lambda lines: read.append(lines[0]))
    files = [(f"x{number} = 1",) for number in range(30)]
    for _ in range(3):
        for lines in files:
            listing_of(lines)
            listing_of((*lines,))  # another report has the same lines in another object
    assert len(read) == 30


def test_of_very_long_files_only_the_last_ones_are_kept() -> None:
    read: list[str] = []
    listing_of = for_the_same_lines(lambda lines: read.append(lines[1]))
    files = [("#" * 100_000, str(number)) for number in range(12)]
    for lines in files + files[-8:] + files[:1]:
        listing_of(lines)
    assert read == [*map(str, range(12)), "0"]


@pytest.mark.parametrize("name", shapes.SHAPES)
def test_a_cell_longer_than_the_bound_shows_its_report_and_says_what_was_forgotten(name: str) -> None:
    report = shapes.record(shapes.SHAPES[name](1500), max_events=400)()
    bundle = to_mimebundle(report)
    assert not report.faults
    forgot = [sentence for sentence in report.blindness if "--max-events 400" in sentence]
    assert len(forgot) == (name not in ALL_EVIDENCE)
    counts = f"{len(report.calls) + report.trace.discarded:,} torch calls, {len(report.calls):,} of them kept"
    assert (counts in report.verdict) == (bool(forgot) and not report.hazards)
    for text in bundle.values():
        assert "could not show" not in text
        assert ("were discarded" in text) == bool(forgot)
        assert ("counts in them are of" in text) == bool(forgot)


def test_calls_that_were_discarded_are_counted_and_only_the_others_are_called_right() -> None:
    x = torch.zeros(2)
    with inplace_magic.watch(max_events=100, full=True) as watched:
        for _ in range(999):
            x.add_(1)
    report = watched.report
    kept = len(report.calls)
    assert kept < 300
    said = f"999 torch calls, {kept} of them kept; nothing wrong found in those."
    assert report.verdict == f"✓ {said}"
    assert Report.from_json(report.to_json()).verdict == report.verdict
    assert report.to_frame("calls").attrs["calls"] == f"{kept} of 999 were kept"
    assert len(report.to_frame("calls")) == kept
    assert f"counts in them are of {kept} of the 999 calls" in report.to_text()
    assert f"counts in them are of {kept} of the 999 calls" in report.to_html()
