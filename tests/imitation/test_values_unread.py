"""What is reported where no values can be read, as on a GPU: the same, but for what only values tell.

All of the rounds, the further programs and the healthy models were run so once, see the plugin in ``values_unread.py``;
this is a sample, and the list of what becomes unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from healthy.compare import changed, programs, run
from imitation.values_unread import leave_values_unread
from programs import score

PROGRAMS = score.packed.FIRST
CASES = {case["case"]: (case, PROGRAMS) for case in score.cases_in(PROGRAMS)}
ROUNDS = {case["case"]: (case, folder) for folder in score.packed.ROUNDS for case in score.cases_in(folder)}
HARMLESS = {name: entry for name, entry in ROUNDS.items() if entry[0]["symptom"] == "harmless"}
SAMPLE = CASES | dict(list(HARMLESS.items())[::40])
HEALTHY = dict(list(programs().items())[::6])

REPEATS = "whether an index names an element twice"
RANGE = "whether the values that are written fit"
UNKNOWN = {
    "silent_segmentation_confusion_counts": REPEATS,
    "silent_footfall_on_a_market_square": REPEATS,
    "silent_item_popularity_loses_repeats": REPEATS,
    "silent_fares_by_city_zone": REPEATS,
    "silent_atoms_hear_one_bond": REPEATS,
    "silent_targets_of_finished_episodes": "whether an index is flags",
    "silent_cell_instance_map": RANGE,
    "silent_returns_of_integer_prices": RANGE,
    "silent_votes_of_many_stumps": RANGE,
}
"""Programs of the rounds whose fault is not found then, and what nobody knows."""


@pytest.fixture(autouse=True)
def _values_unread() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        leave_values_unread(patch)
        yield


def judged(shell: Any, case: dict[str, Any], folder: Path) -> tuple[dict[str, bool], Any]:
    source = score.source_of(folder, case["case"])
    report, pairs = score.score(shell, case, source, "calls")
    assert report is not None
    assert report.faults == []
    return dict(pairs), report


@pytest.mark.parametrize("name", SAMPLE)
def test_a_program_is_judged_as_its_label_wants(loaded_shell: Any, name: str) -> None:
    figures, report = judged(loaded_shell, *SAMPLE[name])
    assert [figure for figure, right in figures.items() if not right] == [], report.to_text()


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_only_values_tell_is_not_reported(loaded_shell: Any, name: str) -> None:
    figures, report = judged(loaded_shell, *ROUNDS[name])
    assert figures["same"]
    assert not any(finding.is_alarm for finding in report.hazards), "it is found: take it off the list"


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_model_ends_as_unwatched_and_nothing_is_found(loaded_shell: Any, name: str) -> None:
    plain = run(loaded_shell, HEALTHY[name])
    watched = run(loaded_shell, HEALTHY[name], level="calls")
    assert changed(plain, watched) == []
    assert watched.alarms == []
