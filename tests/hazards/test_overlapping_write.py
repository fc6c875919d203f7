"""An in-place op that reads elements which it also writes, for other positions."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import made, site, tensor, wrote
from hazards.running import cure, example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.record.events import Region
from inplace_magic.record.trace import Trace

CODE = "overlapping-write"

CELL = ("first = logits[:, :1]", "logits -= first")
SHIFT, COLUMN = "x[:, 1:] = x[:, :-1]", "logits -= logits[:, :1]"


def column_subtracted() -> Trace:
    logits = tensor(1, shape=(2, 3), strides=(3, 1))
    first = tensor(2, shape=(2, 1), strides=(3, 1), storage=1, counter=1, is_view=True)
    return Trace(
        calls=(
            made(0, "Tensor.__getitem__", site(1, CELL), (logits,), (first,)),
            wrote(1, "Tensor.__isub__", site(2, CELL), logits, first),
        )
    )


def test_a_column_subtracted_from_its_own_matrix_is_found() -> None:
    trace = column_subtracted()
    name = "Tensor.sub_"
    calls = (trace.calls[0], wrote(1, name, site(2, CELL), *trace.calls[1].inputs))
    (finding,), faults = find_hazards(Trace(calls=calls))
    assert faults == ()
    assert (finding.code, finding.severity, finding.variable) == (CODE, "silent", "logits")
    assert finding.mutation == site(2, CELL)


def test_a_row_shifted_onto_itself_is_found_by_the_region_of_the_index() -> None:
    cell = ("x[1:] = x[:-1]",)
    x = tensor(1, shape=(4,))
    read = tensor(2, shape=(3,), storage=1, counter=1)
    trace = Trace(calls=(wrote(0, "Tensor.__setitem__", site(1, cell), x, read, region=Region(1, (3,), (1,))),))
    (finding,), _ = find_hazards(trace)
    assert finding.code == CODE
    assert ".clone()" in cure(finding)


def test_an_index_whose_elements_are_unknown_is_no_finding() -> None:
    x, read = tensor(1, shape=(4,)), tensor(2, shape=(3,), storage=1, counter=1)
    trace = Trace(calls=(wrote(0, "Tensor.__setitem__", site(1, ("x[mask] = x[:3]",)), x, read),))
    assert find_hazards(trace) == ((), ())


def test_each_element_read_for_its_own_position_is_fine() -> None:
    x, same = tensor(1, shape=(4,)), tensor(2, shape=(4,), storage=1, counter=1)
    assert find_hazards(Trace(calls=(wrote(0, "Tensor.mul_", site(1, ("x.mul_(y)",)), x, same),))) == ((), ())


def test_an_element_that_is_copied_onto_itself_too_is_fine_and_one_that_is_computed_is_not(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.arange(8.0).view(2, 4)", "x[1] = x[1][0]", "rows = x.tolist()")
    assert ran.codes() == set()
    assert ran.names["rows"] == [[0, 1, 2, 3], [4] * 4]
    assert CODE in watched(tmp_path, "x = torch.arange(8.0).view(2, 4)", "x -= x[:, :1]").codes()


@pytest.mark.parametrize("statement", [COLUMN, SHIFT])
def test_the_bad_program_gives_the_line(tmp_path: Path, statement: str) -> None:
    assert statement in example(CODE, "Bad")
    ran = watched(tmp_path, "logits = x = torch.arange(6.0).reshape(2, 3)", statement)
    finding = ran.the(CODE)
    assert finding.severity == "silent"
    assert ran.at(finding.mutation) == statement
    assert finding.variable == statement.split()[0].split("[")[0]


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    ran = watched(tmp_path, "logits = torch.arange(6.0).reshape(2, 3)", "x = logits.clone()", example(CODE, "Good"))
    assert ran.error is None
    assert ran.codes() == set()


def test_a_tensor_multiplied_by_itself_is_quiet(tmp_path: Path) -> None:
    assert watched(tmp_path, "x = torch.ones(3)", "x.mul_(x)").codes() == set()


def test_without_us_the_rows_are_wrong_and_nothing_is_said(tmp_path: Path) -> None:
    ran = plainly(tmp_path, "logits = torch.arange(1.0, 13.0).reshape(2, 6)", COLUMN, "rows = logits.tolist()")
    assert ran.error is None
    assert ran.names["rows"][0] != [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (COLUMN, "write `logits = logits - logits[:, :1]` instead of `logits -= logits[:, :1]`"),
        ("logits /= logits[:, :1]", "write `logits = logits / logits[:, :1]` instead of `logits /= logits[:, :1]`"),
        ("logits **= logits[:, :1]", "write `logits = logits ** logits[:, :1]` instead of `logits **= logits[:, :1]`"),
        ("logits.sub_(logits[:, :1])", "Make a copy: write `logits.sub_(logits[:, :1].clone())`"),
    ],
)
def test_the_cure_has_the_operator_of_the_line(tmp_path: Path, statement: str, told: str) -> None:
    ran = watched(tmp_path, "logits = torch.arange(1.0, 7.0).reshape(2, 3)", statement)
    assert told in ran.the(CODE).fix


@pytest.mark.parametrize("columns", [1, 32])
@pytest.mark.parametrize("rows", [3, 200])
def test_a_shift_is_told_where_it_overwrites_what_it_has_yet_to_read(tmp_path: Path, rows: int, columns: int) -> None:
    history = f"x = torch.arange({rows}.0 * 96).reshape({rows}, 96)\ny = x.clone()\n"
    right, left = f"x[:, {columns}:] = x[:, :-{columns}]\n", f"x[:, :-{columns}] = x[:, {columns}:]\n"
    wrong = f"wrong = not torch.equal(x[:, {columns}:], y[:, :-{columns}])"
    fine = f"wrong = not torch.equal(x[:, :-{columns}], y[:, {columns}:])"
    assert plainly(tmp_path, history, right, wrong).names["wrong"], "PyTorch says nothing and is wrong"
    assert watched(tmp_path, history, right).codes() == {CODE}
    assert not plainly(tmp_path, history, left, fine).names["wrong"]
    assert watched(tmp_path, history, left).codes() == set()
