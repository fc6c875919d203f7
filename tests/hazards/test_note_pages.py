"""The programs on the pages of the rules that speak of memory only. (``test_worth_knowing.py`` has the traces.)"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from hazards.running import example, plainly, watched

from inplace_magic.hazards.notes import in_place_saved_nothing, kept_by_the_graph

SETUPS = {
    in_place_saved_nothing: "linear, x = nn.Linear(8, 8), torch.ones(2, 8)",
    kept_by_the_graph: "layers = [nn.Linear(600, 600) for _ in range(3)]\nx = torch.ones(600, 600)",
}
"""What the page leaves out; large enough to be worth a note."""
STATEMENTS = {
    in_place_saved_nothing: "h = F.silu(linear(x), inplace=True)",
    kept_by_the_graph: "x = layer(x)",
}
RULES = pytest.mark.parametrize("rule", SETUPS, ids=lambda rule: rule.__name__.rsplit(".", 1)[1])


@RULES
def test_the_bad_program_gives_a_note_at_its_line_and_no_alarm(rule: ModuleType, tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUPS[rule], example(rule, "Bad"))
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation or finding.origin) == STATEMENTS[rule]
    assert (finding.nbytes or 0) > 0
    assert {hazard.severity for hazard in ran.report.hazards} == {"info"}


@RULES
def test_the_good_program_gives_no_such_note(rule: ModuleType, tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUPS[rule], example(rule, "Good"))
    assert ran.error is None
    assert rule.CODE not in ran.codes()


@RULES
def test_without_us_nothing_is_said_because_nothing_is_wrong(rule: ModuleType, tmp_path: Path) -> None:
    assert plainly(tmp_path, SETUPS[rule], example(rule, "Bad")).error is None
