"""A write into an expanded tensor changes every position that the element stands for."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import made, site, tensor, wrote
from hazards.running import example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.record.events import Region
from inplace_magic.record.trace import Trace

CODE = "expanded-tensor-written"

CELL = ("mask = row.expand(3, 4)", "mask[0, 1] = 1")


def one_element_written(region: Region | None) -> Trace:
    row = tensor(1, shape=(1, 4), strides=(4, 1))
    mask = tensor(2, shape=(3, 4), strides=(0, 1), storage=1, counter=1, is_view=True)
    return Trace(
        calls=(
            made(0, "Tensor.expand", site(1, CELL), (row,), (mask,)),
            wrote(1, "Tensor.__setitem__", site(2, CELL), mask, region=region),
        )
    )


def test_one_element_of_an_expanded_tensor_is_found() -> None:
    (finding,), faults = find_hazards(one_element_written(Region(1, (), ())))
    assert faults == ()
    assert (finding.code, finding.severity, finding.variable) == (CODE, "silent", "mask")
    assert finding.mutation == site(2, CELL)
    assert finding.origin == site(1, CELL)
    assert "shape [3, 4]" in finding.message


def test_a_write_of_all_elements_gives_every_position_the_value_anyway() -> None:
    assert find_hazards(one_element_written(Region(0, (3, 4), (0, 1)))) == ((), ())


def test_to_fill_all_of_it_with_one_value_is_no_mistake(tmp_path: Path) -> None:
    ran = watched(
        tmp_path, "a = torch.empty_strided((3, 4), (0, 1)).fill_(7)", "b = torch.ones(2, 1).expand(2, 3).zero_()"
    )
    assert ran.codes() == set()
    assert ran.names["a"].tolist() == [[7.0] * 4] * 3
    assert CODE in watched(tmp_path, "a = torch.zeros(1, 4).expand(4, 4)", "a.fill_diagonal_(1)").codes()


def test_the_bad_program_gives_the_write_and_the_expand(tmp_path: Path) -> None:
    ran = watched(tmp_path, example(CODE, "Bad"))
    finding, of_frames = (found for found in ran.report.hazards if found.code == CODE)
    assert ran.at(finding.mutation) == "mask[0, 1] = 1"
    assert ran.at(finding.origin) == "mask = torch.zeros(1, 4).expand(3, 4)"
    assert finding.variable == "mask"
    assert ran.at(of_frames.mutation).startswith("frames *= 10")
    assert ran.at(of_frames.origin) == "frames = torch.arange(6.0).unfold(0, 4, 2)"


@pytest.mark.parametrize(("size", "step", "twice"), [(64, 16, True), (64, 63, True), (64, 64, False), (16, 64, False)])
def test_frames_that_overlap_are_told_from_those_that_do_not(size: int, step: int, twice: bool, tmp_path: Path) -> None:
    ran = watched(tmp_path, f"frames = torch.zeros(3, 512).unfold(-1, {size}, {step})", "frames += 1")
    assert (CODE in ran.codes()) is twice
    assert (ran.names["frames"].max().item() > 1) is twice  # PyTorch alone says nothing


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    assert watched(tmp_path, example(CODE, "Good"), "mask[0, 1] = 1").codes() == set()


def test_a_sparse_tensor_is_not_taken_for_an_expanded_one(tmp_path: Path) -> None:
    assert watched(tmp_path, "s = torch.eye(2).to_sparse()", "s.mul_(2)").codes() == set()


def test_without_us_all_rows_change_and_nothing_is_said(tmp_path: Path) -> None:
    ran = plainly(tmp_path, example(CODE, "Bad"), "ones = mask.sum().item()")
    assert ran.error is None
    assert ran.names["ones"] == 3.0
    assert ran.names["frames"].max() == 300.0


def test_of_a_call_that_gives_several_tensors_each_is_cloned(tmp_path: Path) -> None:
    a, b = "across, along = torch.meshgrid(torch.arange(3.0), torch.arange(4.0), indexing='ij')", "across[0, 1] += 1"
    finding = watched(tmp_path, a, b).the(CODE)
    assert "tuple(each.clone() for each in torch.meshgrid(" in finding.diff  # a tuple has no `clone`
    assert finding.fix.startswith("Make a copy: write `across, along = tuple(each.clone() for each")


ROWS = {
    "each of a loop": "for row in rows:\n    row.mul_(2.0)",
    "by their number": "for k in range(3):\n    rows[k].mul_(2.0)",
    "beside another tensor": "for row, gain in zip(rows, (2.0, 2.0, 2.0)):\n    row *= gain",
    "a part of each": "for row in rows:\n    row[1:].mul_(2.0)",
    "in a list": "parts = list(rows.unbind(0))\nfor part in parts:\n    part.add_(part)",
}


@pytest.mark.parametrize("loop", ROWS.values(), ids=ROWS)
def test_rows_of_an_expanded_tensor_are_one_row(loop: str, tmp_path: Path) -> None:
    made_of = "rows = torch.ones(4).expand(3, 4)"
    ran = watched(tmp_path, made_of, loop)
    assert ran.codes() == {CODE}
    (finding,) = ran.report.hazards
    assert ran.at(finding.mutation) in loop
    assert ran.names["rows"].max().item() == 8.0, "each row was to be doubled once; PyTorch alone says nothing"
    copied = watched(tmp_path, f"{made_of}.clone()", loop)
    assert (copied.names["rows"].max().item(), copied.codes()) == (2.0, set())


@pytest.mark.parametrize(
    "loop",
    [
        "for frame in torch.zeros(16).unfold(0, 4, 2):\n    frame.add_(torch.hann_window(4))",  # overlap and add
        "for row in torch.ones(4).expand(3, 4):\n    row.fill_(2.0)",  # each time the same
        "total = torch.ones(4)\nfor row in torch.ones(4).expand(3, 4):\n    total.add_(row)",
        "rows = torch.ones(1, 4).expand(3, 4)\nfor _ in range(3):\n    first = rows[0] * 2\n    first.add_(rows[1])",
        "for row in torch.ones(1, 4).expand(1, 4):\n    row.mul_(2.0)",  # one row is one row
    ],
)
def test_rows_that_are_filled_read_or_apart_are_none_of_it(loop: str, tmp_path: Path) -> None:
    assert CODE not in watched(tmp_path, loop).codes()


def test_a_row_that_is_kept_up_by_itself_is_known_to_be_in_every_position(tmp_path: Path) -> None:
    taken = "row = torch.zeros(4)\nboards = row.unsqueeze(0).expand(3, 4)"
    for written in ("row[2] += 9", "row.add_(1)"):
        assert watched(tmp_path, taken, written, "boards[0, 1] = 5", "print(boards.sum())").codes() == set()
    assert watched(
        tmp_path, "row = torch.zeros(4)\nrow.add_(1)\nboards = row.expand(3, 4)\nboards[0, 1] = 5"
    ).codes() == {CODE}


def test_a_part_that_is_written_in_silence_gets_its_own_memory_where_the_whole_was_taken(tmp_path: Path) -> None:
    taken, write = "mask = torch.zeros(1, 2, 4).expand(3, 2, 4)", "mask[:, 0].masked_fill_(torch.eye(3, 4) > 0, 1.0)"
    ran = watched(tmp_path, taken, write)
    assert ran.names["mask"].sum() == 9.0  # three were meant; PyTorch alone warns and goes on
    finding = ran.the(CODE)
    assert ran.at(finding.origin) == taken
    assert f"+    {taken}.clone()" in finding.diff
    assert watched(tmp_path, f"{taken}.clone()", write).names["mask"].sum() == 3.0
