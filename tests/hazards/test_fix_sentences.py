"""The sentence of a fix and its diff say the same, of every labelled program: asked of the stored traces."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from programs import packed
from stored import stored_in

from inplace_magic.hazards.fixes.target import said_of

MEANS = (".clone()", ".copy()", ".detach()", "inplace=False", "no_grad", "deepcopy", "torch.where", "field(", "clamp(")
"""What a sentence can tell somebody to use."""


def contradictions(sentence: str, diff: str) -> list[str]:
    """What a sentence advises and the diff beside it does not do."""
    rows = diff.splitlines()
    new = "\n".join(row[1:] for row in rows if row[:1] in "+ ")
    quoted = re.findall(r"`([^`]+)`", sentence)
    given_up = re.findall(r"instead of `([^`]+)`", sentence)
    named = re.findall(r"that `([^`]+)` runs", sentence)  # the line that runs a layer, and not the one that made it
    wrong = [means for means in MEANS if any(means in code for code in quoted) and means not in new]
    wrong += [code for code in quoted if _is_statement(code) and code not in new and code not in (*given_up, *named)]
    return wrong + [code for code in given_up if code in new.splitlines()]


def _is_statement(code: str) -> bool:
    try:
        (statement,) = ast.parse(code).body
    except (SyntaxError, ValueError):
        return False
    return isinstance(statement, (ast.Assign, ast.AugAssign))


@pytest.mark.parametrize("programs", [packed.FIRST, packed.FURTHER], ids=lambda path: path.stem)
def test_no_sentence_advises_what_its_diff_does_not_do(programs: Path) -> None:
    for name, report in stored_in(programs):
        for hazard in report.hazards:
            if hazard.diff:
                assert contradictions(hazard.fix, hazard.diff) == [], f"{name}: {hazard.fix}\n{hazard.diff}"


@pytest.mark.parametrize(
    ("diff", "sentence"),
    [
        ("-h += 1\n+h = h + 1", "Make a new tensor: write `h = h + 1` instead of `h += 1`."),
        ("-h[0] = 1\n+h = h.clone()\n+h[0] = 1", "Write into a copy: put `h = h.clone()` before `h[0] = 1`."),
        ("-y = x\n+y = x.clone()", "Make a copy: write `y = x.clone()`."),
        ("-f = nn.ReLU(True)\n+f = nn.ReLU(False)", "Let the layer give a new tensor: write `f = nn.ReLU(False)`."),
        ("-best = net\n+best = copy.deepcopy(net)", "Copy the whole object: write `best = copy.deepcopy(net)`."),
        (" a = 1\n+b = 2\n+c = 3", ""),
    ],
)
def test_a_sentence_is_told_from_the_kind_of_edit(diff: str, sentence: str) -> None:
    assert said_of(f"@@ Cell In[4], line 2 @@\n{diff}") == sentence


def test_the_check_sees_a_sentence_that_contradicts_its_diff() -> None:
    diff = "@@ line 2 @@\n-h += 1\n+h = h + 1"
    assert contradictions("Put `h = h.clone()` before `h += 1`.", diff) == [".clone()", "h = h.clone()", "h += 1"]
    assert contradictions("Edit out of place, or fetch a copy first (`.clone()`).", diff) == [".clone()"]
