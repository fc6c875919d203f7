"""The programs on the pages of the rules that speak of memory only. (``test_worth_knowing.py`` has the traces.)"""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.running import example, plainly, watched

from inplace_magic.hazards.notes import KEPT, SAVED_NOTHING

SETUPS = {
    SAVED_NOTHING: "linear, x = nn.Linear(8, 8), torch.ones(2, 8)",
    KEPT: "layers = [nn.Linear(600, 600) for _ in range(3)]\nx = torch.ones(600, 600)",
}
"""What the page leaves out; large enough to be worth a note."""
STATEMENTS = {
    SAVED_NOTHING: "h = F.silu(linear(x), inplace=True)",
    KEPT: "x = layer(x)",
}
CODES = pytest.mark.parametrize("code", SETUPS)


@CODES
def test_the_bad_program_gives_a_note_at_its_line_and_no_alarm(code: str, tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUPS[code], example(code, "Bad"))
    assert ran.error is None
    finding = ran.the(code)
    assert ran.at(finding.mutation or finding.origin) == STATEMENTS[code]
    assert (finding.nbytes or 0) > 0
    assert {hazard.severity for hazard in ran.report.hazards} == {"info"}


@CODES
def test_the_good_program_gives_no_such_note(code: str, tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUPS[code], example(code, "Good"))
    assert ran.error is None
    assert code not in ran.codes()


@CODES
def test_without_us_nothing_is_said_because_nothing_is_wrong(code: str, tmp_path: Path) -> None:
    assert plainly(tmp_path, SETUPS[code], example(code, "Bad")).error is None
