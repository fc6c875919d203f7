"""A tensor compared with, or copied onto, itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import made, site, tensor, wrote
from hazards.running import example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.record.trace import Trace

CODE = "same-memory-compared"

CELL = ("before = w.detach()", "w.add_(1)", "change = w - before")
SETUP = """
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 2)).sum().backward()
"""


def snapshot(*, storage: int = 1, written: bool = True) -> Trace:
    w = tensor(1)
    before = tensor(2, storage=storage, counter=1)
    calls = [
        made(0, "Tensor.detach", site(1, CELL), (w,), (before,)),
        wrote(1, "Tensor.add_", site(2, CELL), w),
        made(2, "Tensor.sub", site(3, CELL), (replace(w, version=1), replace(before, version=1)), (tensor(3),)),
    ]
    return Trace(calls=tuple(calls) if written else (calls[0], replace(calls[2], index=1)))


def test_the_finding_names_the_comparison_and_the_first_write() -> None:
    (finding,), faults = find_hazards(snapshot())
    assert faults == ()
    assert (finding.code, finding.severity) == (CODE, "warning")
    assert finding.variable == "w"
    assert finding.mutation == site(2, CELL)
    assert finding.message.startswith("`change = w - before` (Cell In[7], line 3) compares")


def test_a_real_copy_is_no_finding() -> None:
    assert find_hazards(snapshot(storage=2)) == ((), ())


def test_an_alias_that_nothing_was_written_through_is_none() -> None:
    assert find_hazards(snapshot(written=False)) == ((), ())


def test_the_bad_program_gives_the_step_that_the_snapshot_followed(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(CODE, "Bad"))
    assert ran.error is None
    finding = ran.the(CODE)
    assert ran.at(finding.mutation) == "optimizer.step()"
    assert finding.variable in ("model.weight", "model.bias")
    assert "`model.load_state_dict(best)`" in finding.message


def test_a_difference_from_a_detached_alias_is_found(tmp_path: Path) -> None:
    ran = watched(tmp_path, "w = torch.ones(2)", *CELL)
    assert ran.at(ran.the(CODE).mutation) == "w.add_(1)"


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    rest = example(CODE, "Bad").split("\n", 1)[1]
    ran = watched(tmp_path, SETUP, example(CODE, "Good"), rest)
    assert ran.error is None
    assert ran.codes() == set()


def test_without_us_nothing_is_restored_and_nothing_is_said(tmp_path: Path) -> None:
    start = "start = model.weight.tolist()"
    rest = example(CODE, "Bad").split("\n", 1)[1]
    bad = plainly(tmp_path, SETUP, start, example(CODE, "Bad"))
    good = plainly(tmp_path, SETUP, start, example(CODE, "Good"), rest)
    assert bad.error is None
    assert bad.names["model"].weight.tolist() != bad.names["start"]
    assert good.names["model"].weight.tolist() == good.names["start"]


def test_the_finding_names_the_statement_that_took_the_alias(tmp_path: Path) -> None:
    bad = watched(tmp_path, SETUP, example(CODE, "Bad")).the(CODE).message
    assert "`best = model.state_dict()` (watched_program.py:" in bad
    (finding,), _ = find_hazards(snapshot())
    assert "`before = w.detach()` (Cell In[7], line 1) took the old values by an alias" in finding.message


def test_a_write_before_the_alias_was_taken_is_not_one_that_it_followed(tmp_path: Path) -> None:
    ran = watched(tmp_path, "w = torch.ones(2)", "w.add_(2)", *CELL)
    assert ran.at(ran.the(CODE).mutation) == "w.add_(1)"
    assert watched(tmp_path, "w = torch.ones(2)", "w.add_(2)", CELL[0], CELL[2]).codes() == set()


AVERAGE = """
net = nn.Linear(2, 1)
shadow = {key: {value} for key, p in net.named_parameters()}
with torch.no_grad():
    for key, p in net.named_parameters():
        shadow[key].mul_(0.9).add_(p, alpha=0.1)
"""


@pytest.mark.parametrize(("value", "found"), [("p.data", True), ("p", True), ("p.detach().clone()", False)])
def test_a_running_mean_that_shares_the_memory_of_what_it_averages_is_found(
    tmp_path: Path, value: str, found: bool
) -> None:
    ran = watched(tmp_path, "", AVERAGE.replace("{value}", value))
    assert (CODE in ran.codes()) is found
    if found:
        finding = ran.the(CODE)
        assert ran.at(finding.mutation).startswith("shadow[key].mul_(0.9)")
        assert "averages a tensor with itself" in finding.message
