"""A saved tensor whose values changed although no version moved: the gradient is wrong, and nobody is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import made, site, tensor, wrote
from hazards.running import cure, example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.rules import saved_values_changed as rule
from inplace_magic.record.autograd import AutogradNode, Backward, SavedTensor
from inplace_magic.record.events import ForeignWrite
from inplace_magic.record.trace import Trace

CELL = ("gate = torch.sigmoid(x)", "gate.data.clamp_(min=0.5)", "gate.sum().backward()")
SETUP = "x = torch.tensor([-1.0, 1.0], requires_grad=True)"
TAIL = "gradient = x.grad.tolist()"


def clamped_through_data(**saved: Any) -> Trace:
    """Sigmoid saved its result; an alias on another counter wrote the same storage; then backward ran."""
    x = tensor(1, requires_grad=True)
    gate = tensor(2, requires_grad=True, is_leaf=False, node=2)
    alias = tensor(3, storage=2, counter=3)
    kept = SavedTensor(2, "result", 2, 2, 0, 2, (8,), (1,), 0, "float32", "cpu", 32)
    return Trace(
        calls=(
            made(0, "torch.sigmoid", site(1, CELL), (x,), (gate,)),
            made(1, "Tensor.data", site(2, CELL, expression="gate.data"), (gate,), (alias,)),
            wrote(2, "Tensor.clamp_", site(2, CELL, expression=CELL[1]), alias),
            made(3, "Tensor.backward", site(3, CELL), (gate,)),
        ),
        nodes=(AutogradNode(1, "AccumulateGrad", variable=1), AutogradNode(2, "SigmoidBackward0", 0, (1,), call=0)),
        saved=(replace(kept, **saved),),
        backwards=(Backward(3, (2,)),),
    )


def test_the_finding_names_both_places_and_says_that_the_version_stayed() -> None:
    (finding,), faults = find_hazards(clamped_through_data())
    assert faults == ()
    assert (finding.code, finding.severity, finding.raised) == (rule.CODE, "silent", False)
    assert finding.saved == site(1, CELL)
    assert finding.mutation is not None
    assert finding.mutation.line == 2
    assert finding.variable == "gate"
    assert finding.saved_by == "SigmoidBackward0"
    assert finding.expected_version == finding.found_version == 0
    assert "`.data`" in finding.message


def test_a_write_that_changed_no_value_is_no_finding() -> None:
    assert find_hazards(clamped_through_data(checked=True)) == ((), ())


def test_a_write_that_is_known_to_have_changed_the_values_is_one() -> None:
    (finding,), _ = find_hazards(clamped_through_data(checked=True, changed=3))
    assert finding.mutation is not None
    assert finding.mutation.line == 2


def test_a_write_that_left_all_values_is_not_blamed_for_a_later_one_that_pytorch_noticed(tmp_path: Path) -> None:
    program = "gate = torch.sigmoid(x)\ngate.data.clamp_(min=0.0)\ngate.add_(1)\ngate.sum().backward()"
    ran = watched(tmp_path, SETUP, program)
    assert ran.codes() == {"saved-tensor-overwritten"}


def test_a_write_of_other_elements_of_the_same_memory_is_none() -> None:
    trace = clamped_through_data(offset=8)
    assert find_hazards(trace) == ((), ())


def test_what_hooks_packed_is_left_alone() -> None:
    assert find_hazards(clamped_through_data(hooked=True)) == ((), ())


def test_a_backward_before_the_write_used_the_right_values() -> None:
    trace = clamped_through_data()
    earlier = replace(trace.calls[3], index=1)
    later = tuple(replace(call, index=call.index + 1) for call in trace.calls[1:3])
    trace = replace(trace, calls=(trace.calls[0], earlier, *later), backwards=(Backward(1, (2,)),))
    assert find_hazards(trace) == ((), ())


def test_a_write_from_numpy_is_told_with_the_arrays_name() -> None:
    trace = clamped_through_data(checked=True, changed=2)
    backward = replace(trace.calls[3], index=2)
    trace = replace(
        trace,
        calls=(*trace.calls[:2], backward),
        backwards=(Backward(2, (2,)),),
        foreign=(ForeignWrite(2, 2, ("frame",), site(2, CELL, statement="frame /= 255", expression="frame /= 255")),),
    )
    (finding,), _ = find_hazards(trace)
    assert "`frame`" in finding.message
    assert "NumPy" in cure(finding)


def test_a_change_that_nobody_was_seen_making_says_so() -> None:
    trace = clamped_through_data(checked=True, changed=1)
    backward = replace(trace.calls[3], index=1)
    (finding,), _ = find_hazards(replace(trace, calls=(trace.calls[0], backward), backwards=(Backward(1, (2,)),)))
    assert finding.mutation is None
    assert "the watch did not see" in finding.message


def test_the_bad_program_gives_both_places(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert finding.severity == "silent"
    assert ran.at(finding.saved) == "gate = torch.sigmoid(x)"
    assert ran.at(finding.mutation) == "gate.data.clamp_(min=0.5)"
    assert finding.variable == "gate"
    assert finding.saved_by == "SigmoidBackward0"
    assert finding.expected_version == finding.found_version == 0


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Good"), "gate.sum().backward()")
    assert ran.error is None
    assert ran.codes() == set()


def test_without_us_the_gradient_is_wrong_and_nothing_is_said(tmp_path: Path) -> None:
    bad = plainly(tmp_path, SETUP, example(rule, "Bad"), TAIL)
    good = plainly(tmp_path, SETUP, example(rule, "Good"), "gate.sum().backward()", TAIL)
    assert bad.error is None
    slope = good.names["gradient"][1]
    assert good.names["gradient"] == [0.0, pytest.approx(0.1966, abs=1e-4)]
    assert bad.names["gradient"] == [0.25, slope]  # the slope of a gate at 0.5, though the gate stood at 0.27


@pytest.mark.parametrize(
    ("setup", "write"),
    [
        ("import numpy as np\nframe = np.ones(2, dtype=np.float32)\nx = torch.from_numpy(frame)", "frame *= 2"),
        ("x = torch.ones(2)\nframe = x.numpy()", "frame[:] = 2"),
        ("frame = torch.ones(2)\nx = torch.from_dlpack(frame)", "frame.mul_(2)"),
    ],
    ids=["from_numpy", "numpy", "dlpack"],
)
def test_a_write_from_outside_torch_between_forward_and_backward_is_found(
    tmp_path: Path, setup: str, write: str
) -> None:
    ran = watched(
        tmp_path, setup, "w = torch.ones(2, requires_grad=True)", "out = (w * x).sum()", write, "out.backward()"
    )
    assert ran.error is None
    assert ran.names["w"].grad.tolist() == [2.0, 2.0]  # the factor was 1 when out was computed
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation) == write
    assert ran.at(finding.saved) == "out = (w * x).sum()"


def test_a_fused_optimizer_between_forward_and_backward_is_found(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1, fused=True)
        x = torch.ones(1, 2)
        first = net(x).sum()
        second = net(x).sum()
        first.backward()
        opt.step()
        second.backward()
        """,
    )
    assert ran.error is None
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation) == "opt.step()"
    assert ran.at(finding.saved) == "second = net(x).sum()"
    assert finding.variable == "net[1].weight"


def test_batchnorm_in_training_is_no_finding(tmp_path: Path) -> None:
    ran = watched(tmp_path, "bn = nn.BatchNorm1d(2)", "bn(torch.randn(4, 2, requires_grad=True)).sum().backward()")
    assert ran.codes() == set()


def test_an_array_rewritten_in_each_pass_of_a_loop_is_one_finding_at_its_line(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        import numpy as np
        state, losses = np.zeros(4, dtype=np.float32), []
        weight = torch.ones(4, requires_grad=True)
        """,
        """
        for _ in range(3):
            observation = torch.from_numpy(state)
            losses.append((weight * observation).sum())
            state += 1
        """,
        "torch.stack(losses).sum().backward()",
    )
    hazard = ran.the("saved-values-changed")
    assert ran.at(hazard.mutation) == "state += 1"
    assert [write.names for write in ran.report.trace.foreign] == [("state",)] * 3


OF_AN_ARRAY = """
def shows(signal):
    shown = signal.detach().numpy()
    shown[shown < 0] = 0.0
gain = torch.ones(3, requires_grad=True)
output = torch.tanh(gain * torch.tensor([-1.0, 2.0, -3.0]))
shows(output)
output.sum().backward()
"""


def test_an_array_of_which_no_name_is_left_gets_no_clone(tmp_path: Path) -> None:
    finding = watched(tmp_path, OF_AN_ARRAY).the(rule.CODE)
    assert "shown.clone()" not in finding.diff  # an array has no `clone`, and what was written may be one


def test_only_a_write_through_data_is_called_so(tmp_path: Path) -> None:
    forward = "x = torch.ones(2, 2)\nw = torch.ones(2, 2, requires_grad=True)\nout = (x @ w).sum()"
    by_dlpack = "shared = torch.from_dlpack(x.__dlpack__())\nshared.mul_(2)"
    told = watched(tmp_path, forward, by_dlpack, "out.backward()").the(rule.CODE)
    assert "with a version counter of its own, so" in told.message
    assert ".data" not in told.message + told.fix
    through_data = watched(tmp_path, forward, "x.data.view(-1).mul_(2)", "out.backward()").the(rule.CODE)
    assert "with a version counter of its own (`.data`)" in through_data.message


def test_a_row_written_through_data_is_a_write_of_the_whole_that_autograd_does_not_know(tmp_path: Path) -> None:
    forward = "w = torch.randn(2, 3, requires_grad=True)\nz = torch.tanh(w) + 1"
    (found,) = watched(tmp_path, forward, "z[0, :].data *= 0.5", "z.pow(2).sum().backward()").report.hazards
    assert (found.code, found.severity, found.mutation.text) == (rule.CODE, "warning", "z[0, :].data *= 0.5")
    assert "PyTorch did not record that write" in found.message

    put_back = watched(tmp_path, forward, "z[0].data.mul_(2)\nz[0].data.mul_(0.5)", "z.pow(2).sum().backward()")
    elsewhere = watched(tmp_path, forward, "z[0, :].clone().data *= 0.5", "z.pow(2).sum().backward()")
    assert put_back.report.hazards == elsewhere.report.hazards == []
