"""The timeline of programs that people wrote says what the findings say, and hides no write."""

from __future__ import annotations

import re
from typing import Any

import pytest
from programs import score
from render.tracks import Tracks

from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline.timeline import timeline_table
from inplace_magic.report import Report

PROGRAMS = score.packed.FIRST
WRONG = [case["case"] for case in score.cases_in(PROGRAMS) if case["symptom"] != "harmless"]


def watched(shell: Any, name: str) -> Report:
    source = score.source_of(PROGRAMS, name)
    namespace = score.outcome(shell, f"%%inplace_watch --out report\n{source}")[2]
    report: Report = namespace["report"]
    return report


@pytest.mark.parametrize("name", WRONG)
def test_the_timeline_says_what_the_findings_say_and_hides_no_write(loaded_shell: Any, name: str) -> None:
    report = watched(loaded_shell, name)
    shown = Tracks(timeline_table(Reading(report)))
    says_what_the_findings_say(report, shown)
    hides_no_write(report, shown)


def says_what_the_findings_say(report: Report, shown: Tracks) -> None:
    crosses = {cell.call for cell in shown.cells if cell.is_guilty}
    texts = [cell.text for cell in shown.all_cells]
    for finding in report.hazards:
        if finding.severity != "info":
            assert finding.mutation is not None
            assert finding.call in crosses or (finding.call is None and crosses)
            said = [text for text in texts if text.endswith(f"in line {finding.mutation.line}")]
            assert said, texts
            if finding.saved is not None:
                kept = (
                    f"✗ {finding.saved_by} saved v{finding.expected_version} in line {finding.saved.line}, overwritten"
                )
                assert any(text.startswith(kept) for text in said), said


def hides_no_write(report: Report, shown: Tracks) -> None:
    """Each write is a sign of its lane, or in a gap that its lane has a sign for, or counted in the caption."""
    left_out = 0
    for call in report.calls:
        for mutation in call.mutations:
            lane = [cell for cell in shown.all_cells if cell.storage == str(mutation.storage)]
            if not lane:
                left_out += call.kind == "in-place"
            else:
                signs = {sign for cell in lane if cell.call == call.index for sign in cell.text}
                assert signs & set("✎↻⇄") or any("⋯" in cell.text for cell in lane)
    caption = re.search(r"with (\d+) writes", shown.text)
    assert (int(caption[1]) if caption is not None else 0) == left_out
