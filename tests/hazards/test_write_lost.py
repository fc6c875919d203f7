"""A write into a copy that nobody reads is lost, and nothing says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import made, site, tensor, wrote
from hazards.running import example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import TensorName
from inplace_magic.record.trace import Trace

CODE = "write-lost"

CELL = ("x[rows].clamp_(0, 1)", "y = x + 1")
SETUP = (
    "boxes = torch.arange(12.0).reshape(3, 4)\nmask = boxes[:, 0] > 2\nrows = torch.tensor([0, 2])\nold = boxes.clone()"
)


def lost(*, ended: int | None = 2, names: tuple[TensorName, ...] = (TensorName(1, "x"),)) -> Trace:
    """``x[rows].clamp_(0, 1)``, whose copy died before the next line."""
    x, rows, copy = tensor(1), tensor(3), tensor(2)
    line = replace(site(1, CELL), expression="x[rows]")
    return Trace(
        calls=(
            made(0, "Tensor.__getitem__", line, (x, rows), (copy,)),
            wrote(1, "Tensor.clamp_", replace(line, expression="x[rows].clamp_(0, 1)"), copy),
            made(2, "Tensor.add", site(2, CELL), (x,), (tensor(4),)),
        ),
        storages=(Storage(1, 32, "cpu"), Storage(2, 32, "cpu", born=0, ended=ended)),
        names=names,
        cell=7,
        source=CELL,
    )


def test_a_write_into_a_copy_that_died_unread_is_found() -> None:
    (finding,), faults = find_hazards(lost())
    assert faults == ()
    assert (finding.code, finding.severity, finding.variable) == (CODE, "silent", "x[rows]")
    assert finding.mutation is not None
    assert finding.mutation.line == 1
    assert "`x` keeps its old values" in finding.message


def test_a_copy_that_lives_on_is_no_loss() -> None:
    assert find_hazards(lost(ended=None)) == ((), ())


def test_a_copy_that_dies_later_is_a_loss_unless_somebody_read_it() -> None:
    trace = lost(ended=3)
    (finding,) = find_hazards(trace)[0]
    assert finding.code == CODE
    read = made(2, "Tensor.sum", site(2, CELL), (tensor(2),), (tensor(4),))
    assert find_hazards(replace(trace, calls=(*trace.calls[:2], read))) == ((), ())


def test_a_tensor_that_nobody_reads_or_names_again_misses_nothing() -> None:
    trace = lost(names=())
    assert find_hazards(replace(trace, calls=trace.calls[:2])) == ((), ())
    assert len(find_hazards(trace)[0]) == 1


@pytest.mark.parametrize(
    "line",
    [
        "boxes[:, [0, 2]].clamp_(0, 1)",
        "boxes[mask].mul_(2)",
        "boxes[mask][0] = 1",
        "boxes[rows][0] += 1",
        "boxes.t().reshape(-1)[0] = 5",
        "boxes.t().flatten().zero_()",
        "boxes.index_select(0, rows).zero_()",
        "boxes.half().zero_()",
    ],
)
def test_each_way_to_lose_a_write_is_found_and_changes_nothing_without_us(line: str, tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, line)
    assert ran.at(ran.the(CODE).mutation) == line
    alone = plainly(tmp_path, SETUP, line, "same = torch.equal(boxes, old)")
    assert alone.error is None
    assert alone.names["same"]


@pytest.mark.parametrize(
    "line",
    [
        "boxes[1:3].mul_(2)",
        "boxes[mask] *= 2",
        "boxes[rows] += 1",
        "boxes[mask] = boxes[mask].mul_(2)",
        "kept = boxes[mask].mul_(2)",
        "total = boxes[rows].add_(1).sum()",
        "print(boxes[mask].mul_(2))",
        "items = [boxes[rows].add_(1)]\ntotal = items[0].sum()",
        "boxes.clone().mul_(2)",
        "boxes.reshape(-1)[0] = 5",
        "boxes.contiguous().zero_()",
        "torch.zeros(3).add_(1)",
        "for row in boxes[rows]:\n    row.add_(1)",
        "batch = boxes[rows]\nbatch.sub_(1)\nloss = (batch * 2).sum()\nbatch.add_(1)\nagain = boxes.sum()\ndel batch",
    ],
)
def test_what_is_seen_by_somebody_or_meant_so_is_none(line: str, tmp_path: Path) -> None:
    assert CODE not in watched(tmp_path, SETUP, line).codes()


def test_the_bad_program_gives_both_lines_and_the_good_one_none(tmp_path: Path) -> None:
    found = watched(tmp_path, SETUP, example(CODE, "Bad")).report.hazards
    assert [hazard.code for hazard in found] == [CODE, CODE]
    assert watched(tmp_path, SETUP, example(CODE, "Good")).codes() == set()


@pytest.mark.parametrize(("line", "cured"), [("boxes[:, [0, 2]].clamp_(0, 1)", True), ("boxes[mask][0] = 1", False)])
def test_the_diff_cures_where_there_is_one(line: str, cured: bool, tmp_path: Path) -> None:
    finding = watched(tmp_path, SETUP, line).the(CODE)
    assert bool(finding.diff) == cured
    if cured:
        new = finding.diff.splitlines()[-1].removeprefix("+").strip()
        assert finding.fix == f"Write the result back into the tensor: `{new}`."
        ran = plainly(tmp_path, SETUP, new, "moved = not torch.equal(boxes, old)")
        assert ran.names["moved"]
        assert watched(tmp_path, SETUP, new).codes() == set()


def test_a_leaf_that_requires_grad_is_not_assigned_into(tmp_path: Path) -> None:
    finding = watched(tmp_path, SETUP, "w = torch.ones(3, requires_grad=True)", "w[rows].mul_(2)").the(CODE)
    assert finding.diff == ""
