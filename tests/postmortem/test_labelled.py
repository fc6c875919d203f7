"""Every labelled program that raises: the line that wrote stands first, and is never called certain where it is not."""

from __future__ import annotations

from typing import Any

import pytest
from postmortem.failing import Failed
from programs import score

FOLDERS = (score.packed.FIRST, score.packed.FURTHER, score.packed.HELD_OUT)
CASES = {
    case["case"]: (case, folder)
    for folder in FOLDERS
    for case in score.cases_in(folder)
    if case["symptom"] == "backward_error"
}
OPEN = {
    "raises_pyramid_levels_summed_over_repeats": "both lines of the loop wrote what the other had saved",
    "old_style_spectral_norm_stepped_twice": "the retained graph has two nodes that fit, and one was made by a hook",
}


@pytest.mark.parametrize("name", CASES)
def test_the_labelled_line_is_named(name: str) -> None:
    case, folder = CASES[name]
    source = score.source_of(folder, name)
    answer = Failed(source).certain()
    first: dict[int, Any] = score.statement_of(source)
    wanted = {first.get(line) for line in case["mutating_lines"]}
    assert first.get(answer.candidates[0].line) in wanted
    assert answer.certain or name in OPEN
    if answer.saved is not None and case.get("saving_line"):
        assert first.get(answer.saved.line) == first.get(case["saving_line"])
