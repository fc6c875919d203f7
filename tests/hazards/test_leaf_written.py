"""A leaf that requires grad was written while autograd was recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from builders import made, site, tensor
from hazards.curing import first_finding
from hazards.running import cure, example, plainly, watched

from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.rules.refused import LEAF
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace

CELL = ("w = torch.zeros(3, requires_grad=True)", "w -= 0.1 * grad")
REFUSED = "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."
REFUSED_VIEW = "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation."
SETUP = "grad = torch.ones(3)"


def refused(error: str = REFUSED) -> Trace:
    w = tensor(1, shape=(3,), requires_grad=True)
    return Trace(
        calls=(
            made(0, "torch.zeros", site(1, CELL), (), (w,)),
            CallEvent(1, "Tensor.__isub__", "in-place", site(2, CELL), (w, tensor(2)), refusal=refusal_of(error)),
        )
    )


def test_the_finding_names_the_leaf_where_it_was_written_and_where_it_came_from() -> None:
    (finding,), faults = find_hazards(refused())
    assert faults == ()
    assert (finding.code, finding.severity, finding.raised) == (LEAF, "error", True)
    assert finding.variable == "w"
    assert finding.mutation == site(2, CELL)
    assert finding.origin == site(1, CELL)
    assert (finding.saved, finding.saved_by) == (None, None)
    assert "torch.no_grad()" in cure(finding)


def test_a_leaf_of_which_a_part_is_written_is_called_no_view() -> None:
    (finding,), _ = find_hazards(refused(REFUSED_VIEW))
    assert "`w` is a leaf that requires grad" in finding.message


def test_a_place_in_a_loop_is_one_finding() -> None:
    trace = refused()
    found, _ = find_hazards(replace(trace, calls=(*trace.calls, replace(trace.calls[1], index=2))))
    assert len(found) == 1


def test_another_error_at_the_same_call_is_none_of_this_rules_business() -> None:
    found, _ = find_hazards(refused("RuntimeError: The size of tensor a (3) must match the size of tensor b (4)."))
    assert found == ()


def test_the_bad_program_gives_the_writing_line_and_the_leaf(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(LEAF, "Bad"))
    assert isinstance(ran.error, RuntimeError)
    finding = ran.the(LEAF)
    assert (finding.severity, finding.raised, finding.variable) == ("error", True, "w")
    assert ran.at(finding.mutation) == "w -= 0.1 * grad"
    assert ran.at(finding.origin) == "w = torch.zeros(3, requires_grad=True)"


def test_a_parameter_of_a_module_is_called_by_its_path(tmp_path: Path) -> None:
    ran = watched(tmp_path, "net = nn.Sequential(nn.Linear(2, 2))", "net[0].weight.mul_(2)")
    assert ran.the(LEAF).variable == "net[0].weight"


def test_a_write_through_a_view_of_a_leaf_is_found_as_well(tmp_path: Path) -> None:
    ran = watched(tmp_path, "w = torch.zeros(3, requires_grad=True)", "row = w[0]", "row.add_(1)")
    finding = ran.the(LEAF)
    assert ran.at(finding.mutation) == "row.add_(1)"
    assert "view of a leaf" in finding.message


def test_the_good_program_is_quiet_and_runs(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, "w = torch.zeros(3, requires_grad=True)", example(LEAF, "Good"))
    assert ran.error is None
    assert ran.codes() == set()


def test_without_us_pytorch_raises_the_same_error_and_names_no_variable(tmp_path: Path) -> None:
    plain = plainly(tmp_path, SETUP, example(LEAF, "Bad"))
    assert f"{type(plain.error).__name__}: {plain.error}" == REFUSED
    assert str(watched(tmp_path, SETUP, example(LEAF, "Bad")).error) == str(plain.error)


def test_an_expanded_leaf_is_written_out_of_place_since_nobody_may_write_it(tmp_path: Path) -> None:
    """Under ``no_grad``, which is what helps an update, PyTorch would refuse for the repeated elements."""
    program = "start = nn.Parameter(torch.zeros(1, 3))\nh = start.expand(2, 3)\n{write}\nh.sum().backward()"
    ran = watched(tmp_path, program.format(write="h += torch.ones(2, 3)"))
    assert "+    h = h + torch.ones(2, 3)" in ran.the(LEAF).diff
    unrecorded = plainly(tmp_path, program.format(write="with torch.no_grad():\n    h += torch.ones(2, 3)"))
    assert "more than one element" in str(unrecorded.error)
    cured = watched(tmp_path, program.format(write="h = h + torch.ones(2, 3)"))
    assert cured.error is None
    assert cured.names["start"].grad.tolist() == [[2.0] * 3]


def test_a_call_that_gave_the_leaf_back_is_not_where_it_came_from(loaded_shell: Any) -> None:
    """``torch.autograd.grad`` returns `v` itself as the gradient of a summand, beside a new tensor."""
    loaded_shell.run_cell("import torch\nx, w, v = (torch.ones(3, requires_grad=True) for _ in range(3))").raise_error()
    finding = first_finding(loaded_shell, "of_x, of_w = torch.autograd.grad(x + 2 * w, [x, w], v)\nv.mul_(0.9)")
    assert loaded_shell.user_ns["of_x"] is loaded_shell.user_ns["v"]
    assert (finding.code, finding.variable, finding.origin) == (LEAF, "v", None)
