"""The further labelled programs: what the report says of each is what its label says, and healthy ones stay quiet."""

from __future__ import annotations

from typing import Any

import pytest
from programs import score
from stored import out_of_date

from inplace_magic.report import Report

FOLDER = score.packed.FURTHER
CASES = {case["case"]: case for case in score.cases_in(FOLDER)}

NOT_YET_FOUND = {
    "silent_autocast_keeps_the_old_weights": "an outdated cast is no write at the fault, and no rule is about it",
    "silent_numpy_observation_buffer_reused": "NumPy fills an array inside a function, and no call tells of the line",
    "silent_constant_scaled_by_every_call": "a schedule scales its constant in the same way; reported as `info`",
    "silent_flat_view_standardised": "`ok_flat_view_pruned_on_purpose` does the same, and means it",
    "silent_list_of_weights_copied_shallowly": "`ok_list_copied_to_drop_entries` writes under both lists, too",
    "silent_make_grid_normalises_weights": "a helper may well set parameters without recording",
    "silent_optimizer_state_kept_by_reference": "an optimizer's state has no name in the cell",
    "silent_raw_gradients_after_clipping": "`ok_gradients_listed_and_then_clipped` reads such a list afterwards, too, "
    "and means it; only the name `raw` differs",
    "silent_state_dicts_averaged_as_swa": "the sum adds the dictionaries entry by entry, and compares nothing",
}
"""Wrong numbers without an error that no rule gives an alarm for so far, and why. A name is added with a new program,
or where a rule looked at what variables are called and nothing else tells the program from a healthy one."""


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_further_program_is_told_as_its_label_says(loaded_shell: Any, name: str) -> None:
    source = score.source_of(FOLDER, name)
    report, pairs = score.score(loaded_shell, CASES[name], source, "calls")
    figures = dict(pairs)
    assert figures.pop("same"), "under the watch the program ended otherwise than without it"
    assert report is not None
    assert not out_of_date(report, name), "the stored trace is out of date: run `python tests/stored.py`"
    told_as_labelled(name, report, figures)


def told_as_labelled(name: str, report: Report, figures: dict[str, bool]) -> None:
    assert report.faults == []
    wrong = [figure for figure, right in figures.items() if not right]
    if name in NOT_YET_FOUND:
        assert wrong, "it is found now: take its name off NOT_YET_FOUND"
    else:
        assert wrong == [], report.to_text()


def test_only_silent_programs_may_go_unfound() -> None:
    assert {CASES[name]["symptom"] for name in NOT_YET_FOUND} == {"silent_wrong"}
