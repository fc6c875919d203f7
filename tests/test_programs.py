"""Programs that people wrote: under the watch each behaves as without it, and the report says what is wrong with it.

The labels in ``programs/first.md`` were written from the issues named there, not from the reports.
``programs/score.py`` judges one program; here its figures are tests, ``python tests/programs/score.py -v`` prints them.
"""

from __future__ import annotations

from typing import Any

import pytest
from programs import score
from stored import out_of_date

PROGRAMS = score.packed.FIRST
CASES: dict[str, dict[str, Any]] = {case["case"]: case for case in score.cases_in(PROGRAMS)}


@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_unwatched_and_its_report_names_the_statement_or_is_quiet(
    loaded_shell: Any, name: str, level: str
) -> None:
    source = score.source_of(PROGRAMS, name)
    report, pairs = score.score(loaded_shell, CASES[name], source, level)
    figures = dict(pairs)
    assert figures.pop("same"), "under the watch the program ended otherwise than without it"
    assert report is not None
    assert figures, "nothing was judged"
    wrong = [figure for figure, right in figures.items() if not right]
    assert wrong == [], report.to_text()
    if level == "calls":
        assert not out_of_date(report, name), "the stored trace is out of date: run `python tests/stored.py`"


def test_every_symptom_has_programs_and_every_program_a_label() -> None:
    symptoms = {case["symptom"] for case in CASES.values()}
    assert symptoms == {"backward_error", "leaf_error", "view_error", "silent_wrong", "harmless"}


def test_pytorchs_anomaly_mode_shows_the_writing_statement_only_where_it_saved_the_tensor_too() -> None:
    for name, case in CASES.items():
        if case["symptom"] == "backward_error":
            shown = dict(score.anomaly(case, score.source_of(PROGRAMS, name)))
            assert shown["saver"], name
            assert shown["culprit"] == (case["saving_line"] in case["mutating_lines"]), name
