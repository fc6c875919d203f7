"""The timeline's picture: what scripts rely on, and that it says what the findings say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from builders import sigmoid_report
from render.samples import hostile_report, long_report

from inplace_magic.analysis.lanes import Lane
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline import words as say
from inplace_magic.render.timeline.timeline import timeline_svg
from inplace_magic.report import Report

SVG = "{http://www.w3.org/2000/svg}"


def marks(svg: str, cls: str) -> list[ET.Element]:
    return [g for g in ET.fromstring(svg).iter(f"{SVG}g") if g.get("class") == f"m {cls}"]


def test_the_moment_of_the_crime_is_marked_and_said_in_words() -> None:
    svg = timeline_svg(Reading(sigmoid_report()))

    assert svg is not None
    (guilty,) = marks(svg, "mx")
    assert (guilty.get("data-c"), guilty.get("data-k")) == ("4", "T4@v1")
    assert "SigmoidBackward0 saved v0 in line 5, overwritten in line 6" in "".join(ET.fromstring(svg).itertext())


def test_scripts_find_a_column_for_every_mark() -> None:
    svg = timeline_svg(Reading(sigmoid_report()))

    assert svg is not None
    root = ET.fromstring(svg)
    calls = [int(number) for number in root.get("data-cs", "").split()]
    assert len(calls) == len(root.get("data-xs", "").split())
    assert {int(g.get("data-c", "")) for g in root.iter(f"{SVG}g") if g.get("data-c")} <= set(calls)
    (cursor,) = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "now"]
    assert cursor.get("visibility") == "hidden"


def test_there_are_no_ids_and_the_same_run_gives_the_same_text() -> None:
    svg = timeline_svg(Reading(sigmoid_report()))

    assert svg is not None
    assert not re.search(r"\bid=", svg)
    assert svg == timeline_svg(Reading(sigmoid_report()))


def test_names_that_attack_stay_text() -> None:
    svg = timeline_svg(Reading(hostile_report()))

    assert svg is not None
    assert not [element for element in ET.fromstring(svg).iter() if element.tag == f"{SVG}script"]


def test_a_long_watch_has_a_small_picture() -> None:
    svg = timeline_svg(Reading(long_report(1000)))

    assert svg is not None
    assert len(svg.encode()) < 12_000


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_the_axis_names_the_lines_that_the_tables_name_and_not_their_callers() -> None:
    trace = sigmoid_report().trace
    home = Callsite(20, cell=7)
    inner = [
        replace(call, callsite=call.callsite and replace(call.callsite, function="step", caller=home))
        for call in trace.calls
    ]

    svg = timeline_svg(Reading(Report(replace(trace, calls=tuple(inner)))))

    assert svg is not None
    assert {"5", "6", "7"} <= set(texts(svg))
    assert "20" not in texts(svg)


def test_a_lane_that_nobody_named_or_made_is_called_by_its_storage_once() -> None:
    lane = Lane("S10", 10, nbytes=40, alive=True)

    assert say.of_lane(lane, Reading(sigmoid_report())) == ("S10", False, ["40 B"])


def test_where_lines_are_of_several_files_the_axis_names_these_too() -> None:
    trace = sigmoid_report().trace
    first, *others = trace.calls
    calls = (replace(first, callsite=Callsite(31, file="/srv/project/model.py", text="x = torch.randn(8)")), *others)

    svg = timeline_svg(Reading(Report(replace(trace, calls=calls))))

    assert svg is not None
    assert {"31", "model.py", "5", "Cell In[7]"} <= set(texts(svg))
    assert "Cell In[7]" not in texts(timeline_svg(Reading(sigmoid_report())) or "")


def test_there_is_no_timeline_of_nothing() -> None:
    assert timeline_svg(Reading(Report(Trace()))) is None
