"""A tensor of the class that objects add to as if each had its own."""

from __future__ import annotations

from typing import Any

import pytest
from cells import run_cell
from hazards.running import example

from inplace_magic.hazards import Hazard
from inplace_magic.hazards.shared.objects_share_state import OF_A_CLASS

TWO = """
import torch
{histogram}
train, valid = Histogram(), Histogram()
train.add(torch.tensor([0, 1, 1]))
valid.add(torch.tensor([3]))
total = valid.counts.sum().item()
"""
BAD = TWO.format(histogram=example(OF_A_CLASS, "Bad"))
GOOD = TWO.format(
    histogram=example(OF_A_CLASS, "Good").rstrip() + "\n\n" + example(OF_A_CLASS, "Bad").partition("\n\n")[2]
)
MEANT = {
    "written by the name of the class": BAD.replace("self.counts.index", "Histogram.counts.index"),
    "filled anew": BAD.replace("self.counts.index_add_(0, labels, torch.ones(len(labels)))", "self.counts.zero_()"),
    "one object": BAD.replace("train.add", "valid.add"),
    "counted for each object as well": BAD.replace(
        "    counts = torch.zeros(4)             # one tensor for all histograms",
        "    counts = torch.zeros(4)\n    def __init__(self):\n        self.own = torch.zeros(4)",
    ).replace("        self.counts.index", "        self.own += 1\n        self.counts.index"),
    "handed to both": GOOD.replace("def __init__(self):", "def __init__(self, counts):")
    .replace("self.counts = torch.zeros(4)", "self.counts = counts")
    .replace("Histogram(), Histogram()", "(Histogram(shared) for shared in [torch.zeros(4)] * 2)"),
}


def found(shell: Any, source: str) -> dict[str, Hazard]:
    run_cell(shell, "%%inplace_watch --out report\n" + source)
    return {hazard.code: hazard for hazard in shell.user_ns["report"].hazards}


def test_the_bad_program_gives_the_line_that_adds_and_both_objects(loaded_shell: Any) -> None:
    finding = found(loaded_shell, BAD)[OF_A_CLASS]

    assert loaded_shell.user_ns["total"] == 4  # the class's tensor counted for both
    assert finding.severity == "warning"
    assert finding.mutation.statement.startswith("self.counts.index_add_")
    assert "both times the tensor is `Histogram.counts`" in finding.message
    assert finding.variable == "self.counts"


def test_the_good_program_is_quiet(loaded_shell: Any) -> None:
    assert OF_A_CLASS not in found(loaded_shell, GOOD)
    assert loaded_shell.user_ns["total"] == 1


@pytest.mark.parametrize("program", MEANT.values(), ids=MEANT)
def test_a_tensor_that_is_meant_for_all_is_none(loaded_shell: Any, program: str) -> None:
    assert OF_A_CLASS not in found(loaded_shell, program)


def test_nor_are_they_told_as_two_objects_where_each_counts_in_a_tensor_of_its_own_too(loaded_shell: Any) -> None:
    each = MEANT["counted for each object as well"].partition("train, valid")[0]
    loop = "for meter in (Histogram(), Histogram()):\n    meter.add(torch.tensor([0, 1]))\n"
    assert not {OF_A_CLASS, "objects-share-state"} & found(loaded_shell, each + loop).keys()
    assert "objects-share-state" in found(loaded_shell, BAD.partition("train, valid")[0] + loop)
