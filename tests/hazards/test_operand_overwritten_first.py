"""A chain of in-place calls whose last argument reads what the first one wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.running import example, plainly, watched

CODE = "operand-overwritten-first"

SETUP = "images, lam = torch.rand(4, 3), 0.3\nwanted = images * lam + (1 - lam) * images.flip(0)\n"
CHECK = "\nright = torch.allclose(images, wanted)"
QUIET = {
    "the good one": SETUP + example(CODE, "Good"),
    "the flipped half computed first": SETUP + "other = (1 - lam) * images.flip(0)\nimages.mul_(lam).add_(other)",
    "new values are meant": SETUP + "images.sub_(images.min()).div_(images.max())",
    "a single number is read": SETUP + "images.mul_(2).sub_(images.mean())",
    "a momentum": SETUP + "buf = torch.zeros(4, 3)\nbuf.mul_(0.9).add_(images)",
    "another tensor of that name": SETUP + "images.grad = images.clone()\nimages.mul_(0.9).add_(images.grad)",
}


def test_the_bad_program_is_named(tmp_path: Path) -> None:
    bad = SETUP + example(CODE, "Bad") + CHECK
    assert plainly(tmp_path, "", bad).names["right"] is False

    ran = watched(tmp_path, "", bad)
    finding = ran.the(CODE)
    assert finding.severity == "warning"
    assert ran.at(finding.mutation).startswith("images.mul_(lam)")
    assert finding.variable == "images"


@pytest.mark.parametrize("program", QUIET.values(), ids=QUIET)
def test_what_reads_other_values_is_quiet(tmp_path: Path, program: str) -> None:
    assert CODE not in watched(tmp_path, "", program).codes()
