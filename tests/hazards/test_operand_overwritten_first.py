"""A chain of in-place calls whose last argument reads what the first one wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.patching import patched
from hazards.running import example, plainly, watched

from inplace_magic.hazards.stale import operand_overwritten_first as rule

SETUP = "images, lam = torch.rand(4, 3), 0.3\nwanted = images * lam + (1 - lam) * images.flip(0)\n"
CHECK = "\nright = torch.allclose(images, wanted)"
QUIET = {
    "the good one": SETUP + example(rule, "Good"),
    "the flipped half computed first": SETUP + "other = (1 - lam) * images.flip(0)\nimages.mul_(lam).add_(other)",
    "new values are meant": SETUP + "images.sub_(images.min()).div_(images.max())",
    "a single number is read": SETUP + "images.mul_(2).sub_(images.mean())",
    "a momentum": SETUP + "buf = torch.zeros(4, 3)\nbuf.mul_(0.9).add_(images)",
    "another tensor of that name": SETUP + "images.grad = images.clone()\nimages.mul_(0.9).add_(images.grad)",
}


def test_the_bad_program_is_named_and_its_diff_cures_it(tmp_path: Path) -> None:
    bad = SETUP + example(rule, "Bad") + CHECK
    assert plainly(tmp_path, "", bad).names["right"] is False

    ran = watched(tmp_path, "", bad)
    finding = ran.the(rule.CODE)
    assert finding.severity == "warning"
    assert ran.at(finding.mutation).startswith("images.mul_(lam)")
    assert finding.variable == "images"
    cured = "\n".join(patched(ran.path.read_text(encoding="utf-8").splitlines(), [finding.diff]))
    names: dict[str, object] = {}
    exec(cured, names)
    assert names["right"] is True


@pytest.mark.parametrize("program", QUIET.values(), ids=QUIET)
def test_what_reads_other_values_is_quiet(tmp_path: Path, program: str) -> None:
    assert rule.CODE not in watched(tmp_path, "", program).codes()
