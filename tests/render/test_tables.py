"""Data frames."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from builders import sigmoid_report
from render.samples import HOSTILE, hostile_report

from inplace_magic.record.events import OpEvent
from inplace_magic.record.trace import Trace
from inplace_magic.render.comparison import tables as comparison
from inplace_magic.render.tables.frames import COLUMNS
from inplace_magic.report import Report

VIEWS = list(COLUMNS)


@pytest.mark.parametrize("view", VIEWS)
def test_the_columns_are_the_documented_ones_even_without_rows(view):
    assert tuple(sigmoid_report().to_frame(view).columns) == COLUMNS[view]
    assert tuple(Report(Trace()).to_frame(view).columns) == COLUMNS[view]
    assert len(Report(Trace()).to_frame(view)) == 0


@pytest.mark.parametrize(("view", "names"), [*COLUMNS.items(), *comparison.COLUMNS.items()])
def test_the_page_says_what_each_column_holds(view, names):
    page = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)` \| .", page.partition(f"### `{view}`: ")[2].partition("\n##")[0], re.MULTILINE)
    assert tuple(told) == names


@pytest.mark.parametrize("view", VIEWS)
def test_cells_are_plain_integers_booleans_and_strings(view):
    for _, column in sigmoid_report().to_frame(view).items():
        assert {type(cell) for cell in column.tolist() if cell is not pd.NA} <= {int, str, bool}


def test_another_view_is_refused_with_the_names_of_all():
    with pytest.raises(ValueError, match="'tensors', 'calls', 'lines', 'memory', 'ops', 'saved'"):
        sigmoid_report().to_frame("tensor")


def test_the_tensors_show_both_versions_of_the_written_one_as_the_same_object():
    frame = sigmoid_report().to_frame("tensors")
    before, after = (row for _, row in frame[frame["tensor"] == "T4"].iterrows())

    assert (before["version"], after["version"]) == (0, 1)
    assert (before["grad_fn"], after["grad_fn"]) == ("SigmoidBackward0", "CopySlices")
    assert (before["id"], before["data_ptr"]) == (after["id"], after["data_ptr"])
    assert after["same_object"] == "same object, same memory"
    assert (before["saved_by"], after["saved_by"]) == ("SigmoidBackward0", "")
    assert (after["values_before"], after["values_after"]) == (
        "0.9, 0.4, 0.3, 0.5, 0.5, 0.6, 0.7, 0.8",
        "0.9, 0.4, 2, 0.5, 0.5, 0.6, 0.7, 0.8",
    )


def test_the_calls_say_what_was_written_and_what_raised():
    frame = sigmoid_report().to_frame("calls")

    assert frame.loc[4, "mutations"] == "T4 probs v0→v1"
    assert frame.loc[4, "values"] == "[2]: 0.3 → 2"
    assert frame.loc[4, "line"] == 6
    assert frame.loc[6, "error"].startswith("RuntimeError: one of the variables")


def test_the_saved_tensors_show_the_version_that_was_saved_and_the_one_that_is_there_now():
    frame = sigmoid_report().to_frame("saved")

    row = frame[frame["tensor"] == "T4"].iloc[0]
    assert (row["version_saved"], row["version_last_seen"], row["node"]) == (0, 1, "SigmoidBackward0")


def test_an_unknown_number_is_missing_and_the_known_ones_stay_whole():
    trace = sigmoid_report().trace
    hidden = replace(trace.calls[3].outputs[0], version=None, python_id=None)
    trace = replace(trace, calls=(*trace.calls[:3], replace(trace.calls[3], outputs=(hidden,))), saved=())

    frame = Report(trace).to_frame("tensors")

    assert str(frame["version"].dtype) == "Int64"
    assert frame["version"].tolist() == [0, 0, 0, pd.NA]


@pytest.mark.parametrize("view", VIEWS)
def test_a_hostile_report_has_every_table(view):
    report = hostile_report()
    if view == "ops":
        first = replace(report.trace.storages[0], born_op=0)
        ops = (OpEvent(HOSTILE, 0, (), (1,)),)
        report = replace(report, trace=replace(report.trace, ops=ops, storages=(first,)))

    assert len(report.to_frame(view)) > 0
