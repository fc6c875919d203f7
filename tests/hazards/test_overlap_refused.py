"""Writes that PyTorch refuses for the memory that they share: both lines, and a copy in the right place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.running import example, plainly, watched

from inplace_magic.hazards.rules import refused as rule

REFUSED = {
    "as a whole": ("mask = torch.ones(1, 4).expand(3, 4)", "mask *= 2", "mask", [[2.0] * 4] * 3),
    "a part of it": (
        "mask = torch.ones(1, 4).expand(3, 4)",
        "mask[:, :2] *= 0",
        "mask",
        [[0.0, 0.0, 1.0, 1.0]] * 3,
    ),
    "as an output": (
        "rows = torch.zeros(1, 2).expand(3, 2)",
        "torch.add(torch.ones(3, 2), 1, out=rows)",
        "rows",
        [[2.0] * 2] * 3,
    ),
}


@pytest.mark.parametrize(("taken", "write", "name", "meant"), REFUSED.values(), ids=REFUSED)
def test_a_write_that_pytorch_refuses_is_told_with_the_line_that_repeats_the_elements(
    taken: str, write: str, name: str, meant: list[list[float]], tmp_path: Path
) -> None:
    plain = plainly(tmp_path, taken, write)
    assert "more than one element of the written-to tensor" in str(plain.error)
    ran = watched(tmp_path, taken, write)
    assert str(ran.error) == str(plain.error)
    finding = ran.the(rule.EXPANDED)
    assert (finding.severity, finding.raised, finding.variable) == ("error", True, name)
    assert (ran.at(finding.mutation), ran.at(finding.origin)) == (write, taken)
    assert f"+    {taken}.clone()" in finding.diff
    assert finding.price_bytes == 4 * ran.names[name].numel()  # the whole of it, though a part was to be written
    assert watched(tmp_path, f"{taken}.clone()", write).names[name].tolist() == meant


@pytest.mark.parametrize("write", ["x[1:] += x[:-1]", "x[1:].copy_(x[:-1])"])
def test_what_pytorch_refuses_is_told_and_a_copy_of_what_is_read_cures_it(write: str, tmp_path: Path) -> None:
    plain = plainly(tmp_path, "x = torch.arange(4.0)", write)
    assert "some elements of the input tensor and the written-to tensor" in str(plain.error)
    ran = watched(tmp_path, "x = torch.arange(4.0)", write)
    assert str(ran.error) == str(plain.error)
    finding = ran.the(rule.READ)
    assert (finding.severity, finding.raised, finding.variable) == ("error", True, "x")
    assert ran.at(finding.mutation) == write
    copied = write.replace("x[:-1]", "x[:-1].clone()")
    assert f"+    {copied}" in finding.diff
    assert watched(tmp_path, "x = torch.arange(4.0)", copied).codes() == set()


def test_the_bad_program_raises_and_is_told_and_the_good_one_is_quiet(tmp_path: Path) -> None:
    ran = watched(tmp_path, example(rule.EXPANDED, "Bad"))
    assert "more than one element" in str(ran.error)
    assert ran.codes() == {rule.EXPANDED}
    good = watched(tmp_path, example(rule.EXPANDED, "Good"))
    assert (good.error, good.codes()) == (None, set())


def test_a_shift_into_an_output_is_told_without_a_diff(tmp_path: Path) -> None:
    finding = watched(tmp_path, "x = torch.zeros(4)", "torch.cumsum(x[:3], 0, out=x[1:])").the(rule.READ)
    assert "append `.clone()` to what" in finding.fix
    assert finding.diff == ""
