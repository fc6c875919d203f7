"""A default argument that keeps what earlier calls have added to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.running import example, plainly, watched

from inplace_magic.hazards.handed import default_argument_written as rule

TWICE = """
x = torch.ones(2, 3)
first = scan(x).tolist()
again = scan(x).tolist()
"""


def test_the_bad_program_gives_the_line_that_adds(tmp_path: Path) -> None:
    ran = watched(tmp_path, "", example(rule, "Bad") + TWICE)
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert finding.severity == "warning"
    assert ran.at(finding.mutation).startswith("state += row")
    assert finding.variable == "state"


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    assert watched(tmp_path, "", example(rule, "Good") + TWICE).codes() == set()


def test_without_us_the_second_call_begins_with_the_first_ones_sum(tmp_path: Path) -> None:
    bad, good = (plainly(tmp_path, "", example(rule, title) + TWICE) for title in ("Bad", "Good"))
    assert bad.error is None
    assert good.names["first"] == good.names["again"] == [2.0, 2.0, 2.0]
    assert bad.names["again"] == [4.0, 4.0, 4.0]


BAD = example(rule, "Bad")
CALLED = {
    "the caller hands its own": BAD
    + "\nx, mine = torch.ones(2, 3), torch.zeros(3)\na = scan(x, mine)\nb = scan(x, mine)",
    "one call": BAD + "\nonly = scan(torch.ones(2, 3))",
    "filled anew": BAD.replace("state += row", "state.copy_(row)") + TWICE,
    "meant to go on": "total = torch.zeros(3)\n"
    + BAD.replace("torch.zeros(3)):", "None):\n    state = total if state is None else state")
    + TWICE,
}


@pytest.mark.parametrize("program", CALLED.values(), ids=CALLED)
def test_a_tensor_that_is_meant_to_be_written_is_none(tmp_path: Path, program: str) -> None:
    assert rule.CODE not in watched(tmp_path, "", program).codes()
