"""The timeline: what scripts rely on, and that it says what the findings say."""

from __future__ import annotations

from dataclasses import replace

from builders import sigmoid_report
from render.samples import hostile_report, long_report
from render.tracks import Tracks

from inplace_magic.analysis.lanes import Lane
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline import words as say
from inplace_magic.render.timeline.timeline import timeline_table
from inplace_magic.report import Report


def tracks(report: Report) -> Tracks:
    return Tracks(timeline_table(Reading(report)))


def test_the_moment_of_the_crime_is_marked_and_said_in_words() -> None:
    shown = tracks(sigmoid_report())

    (guilty,) = [cell for cell in shown.cells if cell.is_guilty]
    assert (guilty.call, guilty.key, guilty.text) == (4, "T4@v1", "✎ v1")
    assert "SigmoidBackward0 saved v0 in line 5, overwritten in line 6" in shown.text


def test_scripts_find_a_column_for_every_mark() -> None:
    shown = tracks(sigmoid_report())

    assert shown.cells
    assert {cell.call for cell in shown.cells} <= {cell.call for cell in shown.axis}


def test_what_a_node_keeps_is_blue_from_its_save_to_its_end() -> None:
    trace = sigmoid_report().trace
    waiting = Report(replace(trace, nodes=tuple(replace(node, pending=True) for node in trace.nodes)))
    lane = [cell for cell in tracks(waiting).all_cells if cell.storage == "4"]

    (start,) = [cell for cell in lane if "●" in cell.text]
    kept = "SigmoidBackward0 keeps v0 (result) to the end of the watch"
    assert (start.text, start.title) == ("+ v0 ●", f"T4 probs: created; {kept}")
    place = lane.index(start)
    assert [cell.is_kept for cell in lane] == [number >= place for number in range(len(lane))]


def test_there_are_no_ids_and_the_same_run_gives_the_same_text() -> None:
    markup = timeline_table(Reading(sigmoid_report()))

    assert " id=" not in markup
    assert markup == timeline_table(Reading(sigmoid_report()))


def test_names_that_attack_stay_text() -> None:
    assert set(tracks(hostile_report()).tags) <= {"div", "p", "table", "tbody", "tr", "th", "td", "a", "b"}


def test_a_long_watch_has_a_small_table() -> None:
    assert len(timeline_table(Reading(long_report(1000))).encode()) < 16_000


def test_the_axis_names_the_lines_that_the_tables_name_and_not_their_callers() -> None:
    trace = sigmoid_report().trace
    home = Callsite(20, cell=7)
    inner = [
        replace(call, callsite=call.callsite and replace(call.callsite, function="step", caller=home))
        for call in trace.calls
    ]

    lines = {cell.text for cell in tracks(Report(replace(trace, calls=tuple(inner)))).axis}

    assert {"5", "6", "7"} <= lines
    assert "20" not in lines


def test_a_lane_that_nobody_named_or_made_is_called_by_its_storage_once() -> None:
    lane = Lane("S10", 10, nbytes=40, alive=True)

    assert say.of_lane(lane, Reading(sigmoid_report())) == ("S10", False, ["40 B"])


def test_where_lines_are_of_several_files_the_axis_names_these_too() -> None:
    trace = sigmoid_report().trace
    first, *others = trace.calls
    calls = (replace(first, callsite=Callsite(31, file="/srv/project/model.py", text="x = torch.randn(8)")), *others)

    shown = tracks(Report(replace(trace, calls=calls)))

    assert {"31", "5"} <= {cell.text for cell in shown.axis}
    assert {"model.py", "Cell In[7]"} <= {cell.text for cell in shown.all_cells}
    assert "Cell In[7]" not in tracks(sigmoid_report()).text


def test_there_is_no_timeline_of_nothing() -> None:
    assert timeline_table(Reading(Report(Trace()))) == ""
