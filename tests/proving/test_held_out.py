"""Programs that were written before a look at how fixes are made: what is offered for them cures, or nothing is."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from hazards.patching import patched
from programs import score
from proving.righted import is_right, left_by, rights
from proving.trying import watched

FOLDER = score.packed.HELD_OUT
CASES = {case["case"]: case for case in score.cases_in(FOLDER)}
SAID = {
    "backward_error": "modified by an inplace operation",
    "leaf_error": "leaf Variable that requires grad",
    "view_error": "is a view and is being modified inplace",
    "second_time": "backward through the graph a second time",
}
NOT_CURED = {
    "raises_encoders_step_between_two_backwards": "a step in a loop over optimizers, and backward in another method",
    "twice_membrane_kept_by_the_neuron": "the state is an attribute of two layers, which no line of the loop names",
}


def text_of(name: str) -> str:
    return score.source_of(FOLDER, name)


@pytest.mark.parametrize("name", CASES)
def test_the_program_raises_as_its_label_says_and_its_right_versions_do_not(name: str) -> None:
    case, source = CASES[name], text_of(name)
    assert case["source"].startswith("https://")
    assert all(source.splitlines()[line - 1].strip() for line in case["mutating_lines"])
    code = compile(source, "program.py", "exec", dont_inherit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match=SAID[case["symptom"]]):
            exec(code, {"__name__": "__main__"})
    assert rights(case, source)


@pytest.mark.parametrize("name", CASES)
def test_what_is_offered_cures_it(loaded_shell: Any, name: str) -> None:
    source = text_of(name)
    torch.manual_seed(0)

    with score.unshown(), score.told_briefly(loaded_shell):
        tried = watched(loaded_shell, source).prove()

    diffs = [hazard.diff for hazard in tried.hazards if hazard.diff and hazard.severity in ("error", "silent")]
    assert bool(diffs) is (name not in NOT_CURED)
    if diffs:
        state = left_by("\n".join(patched(["%%inplace_watch", *source.splitlines()], diffs)[1:]))
        assert state is not None, "a vain fix"
        assert any(is_right(state, right) for right in rights(CASES[name], source)), "another program"
