"""The rounds of labelled programs: silent failures and their healthy look-alikes, each after a public report, written
without a look at the rules. What was found at first stands in docs/measured/rounds.md; what is found now, here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gate
import proven
import pytest
from hazards.curing import cured
from programs import packed, score
from stored import out_of_date, stored

from inplace_magic.report import Report

CASES = {(case["case"], programs): case for programs in packed.ROUNDS for case in packed.cases_in(programs)}

BY_CHANCE = {
    "silent_counter_on_a_board_game": "a matrix product onto its own factor, which some kernels of BLAS copy first",
}
"""Failures that come out right on some machines, and why."""
NOT_CURED = {
    "silent_sound_events_in_a_kitchen": "with a copy of the other network's statistics the teacher's own are lost, too",
    "silent_patch_replaced_by_token": "with `.data` on its right-hand side, too, the token gets no gradient",
    "silent_noisy_and_clean_patches": "with a copy of the patch, the noisy one is still handed out as the clean one",
    "silent_smeared_slices_of_a_core_scan": "with a copy to read from, the caller's scan is still written for the next",
}
"""Failures for which the diffs that are shown are not enough, and why."""


LONG = proven.without_trace()


def each_program(keys: Iterable[tuple[str, Path]]) -> Any:
    return pytest.mark.parametrize(("name", "programs"), [pytest.param(*key, id=key[0]) for key in keys])


def watched(shell: Any, name: str, programs: Path) -> Report:
    """Run a program plainly and watched; return the report, where both end as its label says."""
    source, case = packed.source_of(programs, name), CASES[name, programs]
    error, wrong = score.plainly(source)
    assert error is None
    if name in BY_CHANCE and not wrong:
        pytest.skip(BY_CHANCE[name])
    assert wrong == (case["symptom"] == "silent_wrong"), "by PyTorch alone the program is not what its label says"
    report, pairs = score.score(shell, case, source, "calls")
    assert dict(pairs)["same"], "under the watch the program ended otherwise than without it"
    assert report is not None
    assert report.faults == []
    return report


def cured_by_its_diffs(name: str, source: str, report: Report) -> None:
    fixed = cured(source, report)
    if fixed != source.rstrip("\n"):
        assert (score.plainly(fixed) == (None, False)) is (name not in NOT_CURED), fixed


@each_program(key for key in CASES if key[0] not in LONG)
def test_a_program_of_a_round_ends_as_unwatched_and_is_recorded_as_its_stored_trace(
    loaded_shell: Any, name: str, programs: Path
) -> None:
    report = watched(loaded_shell, name, programs)
    assert stored(name) is not None, "no trace is stored: run `python tests/proven.py`"
    assert not out_of_date(report, name), "the stored trace is out of date: run `python tests/stored.py`"


@each_program(key for key, case in CASES.items() if key[0] not in LONG and case["symptom"] == "silent_wrong")
def test_the_diffs_of_a_program_of_a_round_cure_it(name: str, programs: Path) -> None:
    report = stored(name)
    assert report is not None
    cured_by_its_diffs(name, packed.source_of(programs, name), report)


@each_program(key for key in CASES if key[0] in LONG)
def test_a_long_program_of_a_round_is_told_as_the_golden_file_says(
    loaded_shell: Any, name: str, programs: Path
) -> None:
    """It has no stored trace for ``test_gate.py``, so it is judged here."""
    source, case = packed.source_of(programs, name), CASES[name, programs]
    report = watched(loaded_shell, name, programs)
    row = gate.row_of(case, source, report)
    if case["symptom"] == "harmless":
        assert row.right, report.to_text()
    else:
        assert row.right == gate.golden()[name][1], "if it is meant: `python tests/gate.py --long --accept`"
        cured_by_its_diffs(name, source, report)


def test_each_round_has_as_many_healthy_programs_as_failures_and_each_its_source() -> None:
    for programs in packed.ROUNDS:
        symptoms = [case["symptom"] for case in packed.cases_in(programs)]
        assert symptoms.count("silent_wrong") == symptoms.count("harmless") >= 20
    assert all(case["source"].startswith("https://") for case in CASES.values())
