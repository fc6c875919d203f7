"""A hook or a custom backward that edits a gradient which a sibling branch shares."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import made, site, tensor, with_traits, wrote
from hazards.running import example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.record.autograd import AutogradNode, Backward
from inplace_magic.record.trace import Trace

CODE = "shared-gradient-edited"
CELL = ("left.register_hook(scale)", "(left + right).square().sum().backward()", "grad.mul_(0.1)")
SETUP = """
x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
right, left = w * 1, x * 1
"""
TAIL = "gradients = [x.grad.tolist(), w.grad.tolist()]"


def hook_edits(*, sum_of: tuple[int | None, ...]) -> Trace:
    left = tensor(1, requires_grad=True, is_leaf=False, node=1)
    total = tensor(2, requires_grad=True, is_leaf=False, node=3)
    inner = site(3, CELL, function="scale", caller=site(2, CELL), parameters=("grad",))
    trace = Trace(
        calls=(
            made(0, "Tensor.register_hook", site(1, CELL), (left,)),
            made(1, "Tensor.backward", site(2, CELL), (total,)),
            wrote(2, "Tensor.mul_", inner, tensor(9), parent=1),
        ),
        nodes=(
            AutogradNode(1, "MulBackward0", 1),
            AutogradNode(2, "MulBackward0", 0),
            AutogradNode(3, "AddBackward0", 2, sum_of),
        ),
        backwards=(Backward(1, (3,)),),
    )
    return with_traits(trace)


def test_a_gradient_that_an_addition_hands_to_two_branches_is_found() -> None:
    (finding,), faults = find_hazards(hook_edits(sum_of=(1, 2)))
    assert faults == ()
    assert (finding.code, finding.severity, finding.variable) == (CODE, "silent", "grad")
    assert finding.mutation is not None
    assert finding.mutation.line == 3
    assert finding.call == 2


def test_a_gradient_without_a_sibling_is_none() -> None:
    assert find_hazards(hook_edits(sum_of=(1, None))) == ((), ())


def test_the_bad_program_gives_the_line_of_the_hook(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(CODE, "Bad"))
    assert ran.error is None
    finding = ran.the(CODE)
    assert ran.at(finding.mutation) == "left.register_hook(lambda grad: grad.mul_(0.1))"
    assert finding.variable == "grad"
    assert finding.mutation is not None
    assert ran.at(finding.mutation.caller) == "(left + right).square().sum().backward()"


def test_a_custom_backward_that_edits_its_argument_is_found(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        class Slow(torch.autograd.Function):
            @staticmethod
            def forward(ctx, t):
                return t * 1
            @staticmethod
            def backward(ctx, grad):
                return grad.mul_(0.1)
        """,
        SETUP,
        "(Slow.apply(left) + right).square().sum().backward()",
    )
    assert ran.error is None
    assert ran.at(ran.the(CODE).mutation) == "return grad.mul_(0.1)"


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(CODE, "Good"), "(left + right).square().sum().backward()")
    assert ran.error is None
    assert ran.codes() == set()


def test_without_us_the_siblings_gradient_is_scaled_too_and_nothing_is_said(tmp_path: Path) -> None:
    bad = plainly(tmp_path, SETUP, example(CODE, "Bad"), TAIL)
    good = plainly(tmp_path, SETUP, example(CODE, "Good"), "(left + right).square().sum().backward()", TAIL)
    assert bad.error is None
    scaled = pytest.approx(0.4)
    assert good.names["gradients"] == [[scaled, scaled], [4.0, 4.0]]
    assert bad.names["gradients"] == [[scaled, scaled], [scaled, scaled]]


@pytest.mark.parametrize("other", ["x * 2", "x.tanh()", "(x * 3).view(2)", "x.sin() + x.cos()", "w"])
@pytest.mark.parametrize("edited", ["x * 2", "x.sin() + x.cos()"])
@pytest.mark.parametrize("first", ["edited", "other"])
def test_only_a_branch_that_backward_runs_later_is_said_to_change(
    tmp_path: Path, first: str, edited: str, other: str
) -> None:
    """Backward begins with the leaves and then takes the youngest node; what it is through with is not changed."""
    program = """
    x, w = torch.tensor([0.5, -1.0], requires_grad=True), torch.ones(2, requires_grad=True)
    {lines}
    {hooked}
    (left + right).square().sum().backward()
    gradients = [x.grad.tolist(), [] if w.grad is None else w.grad.tolist()]
    """
    lines = [f"left = {edited}", f"right = {other}"]
    both = "; ".join(lines if first == "edited" else lines[::-1])
    in_place, apart = (
        program.format(lines=both, hooked=f"left.register_hook(lambda grad: {edit})")
        for edit in ("grad.mul_(0.1)", "grad * 0.1")
    )
    changes = plainly(tmp_path, in_place).names["gradients"] != plainly(tmp_path, apart).names["gradients"]
    assert watched(tmp_path, in_place).codes() == ({CODE} if changes else set())
