"""The timeline of programs that people wrote says what the findings say, and hides no write."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from programs import score

from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline.places import width
from inplace_magic.render.timeline.timeline import timeline_svg
from inplace_magic.report import Report

PROGRAMS = score.packed.FIRST
WRONG = [case["case"] for case in score.cases_in(PROGRAMS) if case["symptom"] != "harmless"]
SVG = "{http://www.w3.org/2000/svg}"


def watched(shell: Any, name: str) -> Report:
    source = score.source_of(PROGRAMS, name)
    namespace = score.outcome(shell, f"%%inplace_watch --out report\n{source}")[2]
    report: Report = namespace["report"]
    return report


@pytest.mark.parametrize("name", WRONG)
def test_the_picture_says_what_the_findings_say_and_hides_no_write(loaded_shell: Any, name: str) -> None:
    report = watched(loaded_shell, name)
    svg = timeline_svg(Reading(report))
    assert svg is not None
    root = ET.fromstring(svg)
    says_what_the_findings_say(report, root)
    hides_no_write(report, root)
    keeps_its_texts_inside(root)


def says_what_the_findings_say(report: Report, root: ET.Element) -> None:
    crosses = {int(g.get("data-c", "")) for g in root.iter(f"{SVG}g") if g.get("class") == "m mx"}
    texts = [shown(element) for element in root.iter(f"{SVG}text")]
    for finding in report.hazards:
        if finding.severity != "info":
            assert finding.mutation is not None
            assert finding.call in crosses or (finding.call is None and crosses)
            said = [text for text in texts if text.endswith(f"in line {finding.mutation.line}")]
            assert said, texts
            if finding.saved is not None:
                kept = f"{finding.saved_by} saved v{finding.expected_version} in line {finding.saved.line}, overwritten"
                assert any(text.startswith(kept) for text in said), said


def hides_no_write(report: Report, root: ET.Element) -> None:
    """Each write is a mark of its lane, or in a gap that its lane has a mark for, or counted in the caption."""
    lanes = {g.get("data-s"): list(g.iter(f"{SVG}g")) for g in root.iter(f"{SVG}g") if g.get("class") == "l"}
    left_out = 0
    for call in report.calls:
        for mutation in call.mutations:
            marks = lanes.get(str(mutation.storage))
            if marks is None:
                left_out += call.kind == "in-place"
            else:
                kinds = {g.get("class") for g in marks if g.get("data-c") == str(call.index)}
                assert kinds & {"m mw", "m mn", "m ms", "m mm", "m mx"} or any(g.get("class") == "m mg" for g in marks)
    caption = re.search(r"with (\d+) writes", "".join(root.itertext()))
    assert (int(caption[1]) if caption is not None else 0) == left_out


def keeps_its_texts_inside(root: ET.Element) -> None:
    for text in root.iter(f"{SVG}text"):
        wide = width(shown(text), {"v": 10, "p": 9}.get(text.get("class", ""), 11))
        start = float(text.get("x", "")) - (wide / 2 if text.get("class") in ("a", "v", "p") else 0)
        assert start >= 0, shown(text)
        assert start + wide <= float(root.get("width", "")), shown(text)


def shown(text: ET.Element) -> str:
    """The words of a text element that are drawn."""
    title = text.findtext(f"{SVG}title") or ""
    return "".join(text.itertext()).removeprefix(title)
