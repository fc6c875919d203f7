"""The further labelled programs as files: the lines of a script, and of a ``main()`` that ends before the block does.

A finding follows from what happened, not from where the lines stood: what is told of a cell is told of a file.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from programs import score
from test_further_programs import CASES, FOLDER, NOT_YET_FOUND

NOT_FOUND_IN_MAIN = NOT_YET_FOUND.keys() | {"silent_update_is_the_momentum_buffer"}
"""Found in a cell, and not where the same lines are the body of a function. Names are only taken off."""

HEAD = "def main():\n    global SILENTLY_WRONG\n"
"""Two lines stand above a program in a function."""


def figures_of(name: str, source: str, above: int) -> dict[str, bool]:
    original = score.source_of(FOLDER, name)
    error, wrong, namespace = score.outcome_of_file(source, "calls")
    assert (score.said(error), wrong) == score.plainly(original)
    report: Any = namespace["report"]
    assert report.faults == []
    return dict(score.judge(CASES[name], original, report, above=above))


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_file_is_told_what_a_cell_is_told(name: str) -> None:
    figures = figures_of(name, score.source_of(FOLDER, name), above=0)
    assert all(figures.values()) == (name not in NOT_YET_FOUND), figures


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_function_that_runs_once_is_told_what_a_cell_is_told(name: str) -> None:
    source = score.source_of(FOLDER, name)
    figures = figures_of(name, f"{HEAD}{textwrap.indent(source, '    ')}\nmain()\n", above=HEAD.count("\n"))
    found = figures.get("culprit", figures.get("quiet"))
    assert found == (name not in NOT_FOUND_IN_MAIN), figures
