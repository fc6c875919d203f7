"""Labelled Paddle programs: under the watch each behaves as without it, and the report says what is wrong with it.

The labels were written from the threads named in ``programs.md`` and are proven by Paddle alone, see
``score.py``, whose figures are tests here.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import score

from inplace_magic.report import Report

CASES = score.cases()


@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_unwatched_and_its_report_names_the_line_or_is_quiet(loaded_shell: Any, name: str) -> None:
    report, figures = score.score(loaded_shell, CASES[name])
    assert report is not None
    assert [figure for figure, good in figures if not good] == [], report.to_text()
    assert Report.from_json(report.to_json()).hazards == report.hazards


ONE_OF_EACH = (
    "relu_between_two_branches",
    "own_sgd_by_slice",
    "element_of_a_row_zeroed",
    "averaged_weights_before_backward",
    "conv_norm_relu_step",
)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_no_sentence_speaks_of_pytorch(loaded_shell: Any, name: str, language: str) -> None:
    _error, names = score.run(loaded_shell, f"%%inplace_watch -o report --lang {language}\n{score.source_of(name)}")
    report = names["report"]
    assert report.framework == "paddle"
    told = report.to_text() + report.to_html() + json.dumps([finding.fix + finding.diff for finding in report.hazards])
    assert "PyTorch" not in told
    assert "torch." not in told
    assert report.to_dot()


def test_there_are_programs_of_every_kind() -> None:
    kinds = Counter(case["symptom"] for case in CASES.values())
    assert set(kinds) == {"backward_error", "leaf_error", "silent_wrong", "harmless"}
    assert kinds["harmless"] >= 16
    assert len(CASES) - kinds["harmless"] >= 24
