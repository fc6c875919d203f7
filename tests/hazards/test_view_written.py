"""Views that autograd cannot follow a write through: one code for each reason that PyTorch gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import made, site, tensor, wrote
from hazards.running import example, plainly, watched

from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.rules import refused as rule
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace

CELL = ("a, b = x.chunk(2)", "a += b", "y = b * 2")
SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the output views "
    "to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
TEXTS = {
    rule.MULTI_OUTPUT: f"Output 0 of SplitBackward0 is a view and is being modified inplace. {SEVERAL}",
    rule.NO_GRAD: "A view was created in no_grad mode and is being modified inplace with grad mode enabled.",
    rule.DETACHED: "Can't detach views in-place. Use detach() instead.",
    rule.INFERENCE: "Inplace update to inference tensor outside InferenceMode is not allowed.",
    rule.CUSTOM: (
        "Output 0 of BackwardHookFunctionBackward is a view and is being modified inplace. This view was created "
        "inside a custom Function (or because an input was returned as-is)."
    ),
}
PROGRAMS = {
    # code: (setup, the writing line, what the view was taken by)
    rule.MULTI_OUTPUT: ("x = torch.ones(4, requires_grad=True) * 1", "a, b = x.chunk(2)", "a += b"),
    rule.DETACHED: ("x = torch.ones(4, requires_grad=True) * 1", "a = x[:2]", "a.detach_()"),
    rule.NO_GRAD: (
        "x = torch.ones(4)\nw = torch.ones(2, requires_grad=True)\ntorch.set_grad_enabled(False)",
        "a = x[:2]",
        "a += w",
    ),
    rule.INFERENCE: ("w = torch.ones(4, requires_grad=True)", "a = quietly(4)", "a += w"),
    rule.CUSTOM: (
        "layer = nn.Linear(2, 2)\nlayer.register_full_backward_hook(lambda m, i, o: None)\nx = torch.ones(1, 2)",
        "a = layer(x)",
        "a += 1",
    ),
}
HELPERS = """
def quietly(n):
    with torch.inference_mode():
        return torch.ones(n)
"""


def refused(code: str) -> Trace:
    x = tensor(1, requires_grad=True, is_leaf=False)
    a, b = (tensor(n, storage=1, counter=1, shape=(4,), is_view=True) for n in (2, 3))
    return Trace(
        calls=(
            made(0, "Tensor.chunk", site(1, CELL), (x,), (a, b)),
            CallEvent(1, "Tensor.__iadd__", "in-place", site(2, CELL), (a, b), refusal=refusal_of(TEXTS[code])),
        )
    )


@pytest.mark.parametrize("code", TEXTS)
def test_each_refusal_of_pytorch_has_its_code_and_names_the_write_and_the_view(code: str) -> None:
    (finding,), faults = find_hazards(refused(code))
    assert faults == ()
    assert (finding.code, finding.severity, finding.raised) == (code, "error", True)
    assert finding.variable == "a"
    assert finding.mutation == site(2, CELL)
    assert finding.origin == site(1, CELL)


def test_a_view_used_after_its_base_was_written_blames_the_write() -> None:
    x = tensor(1, requires_grad=True, is_leaf=False)
    a, b = (tensor(n, storage=1, counter=1, shape=(4,), is_view=True) for n in (2, 3))
    text = (
        "RuntimeError: Output 1 of SplitBackward0 is a view and its base or another view of its base has been modified "
        f"inplace. {SEVERAL}"
    )
    cell = ("a, b = x.chunk(2)", "x.mul_(2)", "y = b * 2")
    trace = Trace(
        calls=(
            made(0, "Tensor.chunk", site(1, cell), (x,), (a, b)),
            wrote(1, "Tensor.mul_", site(2, cell), x),
            CallEvent(2, "Tensor.mul", "query", site(3, cell), (b,), refusal=refusal_of(text)),
        )
    )
    (finding,), _ = find_hazards(trace)
    assert finding.code == rule.BASE
    assert finding.mutation == site(2, cell)
    assert finding.variable == "x"
    assert "`y = b * 2` (Cell In[7], line 3) then used a view of it" in finding.message


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_refused_program_gives_the_write_and_where_the_view_came_from(code: str, tmp_path: Path) -> None:
    setup, taken, write = PROGRAMS[code]
    ran = watched(tmp_path, HELPERS, setup, taken, "torch.set_grad_enabled(True)", write)
    assert isinstance(ran.error, RuntimeError)
    finding = ran.the(code)
    assert (finding.severity, finding.raised, finding.variable) == ("error", True, "a")
    assert ran.at(finding.mutation) == write
    if code != rule.INFERENCE:  # the helper made it, and the helper's line is where it came from
        assert ran.at(finding.origin) == taken


@pytest.mark.parametrize("code", PROGRAMS)
def test_without_us_pytorch_raises_the_same_error(code: str, tmp_path: Path) -> None:
    setup, taken, write = PROGRAMS[code]
    parts = (HELPERS, setup, taken, "torch.set_grad_enabled(True)", write)
    plain = plainly(tmp_path, *parts)
    assert isinstance(plain.error, RuntimeError)
    assert str(plain.error) == str(watched(tmp_path, *parts).error)


@pytest.mark.parametrize("code", PROGRAMS)
def test_a_clone_of_the_view_may_be_written(code: str, tmp_path: Path) -> None:
    setup, taken, write = PROGRAMS[code]
    ran = watched(tmp_path, HELPERS, setup, taken, "torch.set_grad_enabled(True)", "a = a.clone()", write)
    assert ran.error is None
    assert ran.codes() == set()


def test_the_bad_program_of_the_page_gives_the_write_and_the_chunk(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.ones(4, requires_grad=True) * 1", example(rule.MULTI_OUTPUT, "Bad"))
    finding = ran.the(rule.MULTI_OUTPUT)
    assert ran.at(finding.mutation) == "a += b"
    assert ran.at(finding.origin) == "a, b = x.chunk(2)"


def test_the_good_program_of_the_page_is_quiet(tmp_path: Path) -> None:
    good = example(rule.MULTI_OUTPUT, "Good")
    ran = watched(tmp_path, "x = torch.ones(4, requires_grad=True) * 1", "a, b = x.chunk(2)", good)
    assert ran.error is None
    assert ran.codes() == set()


def test_the_base_of_several_views_written_before_one_is_used_blames_the_write(tmp_path: Path) -> None:
    ran = watched(tmp_path, "x = torch.ones(4, requires_grad=True) * 1", "a, b = x.chunk(2)", "x.mul_(2)", "y = a * b")
    assert isinstance(ran.error, RuntimeError)
    finding = ran.the(rule.BASE)
    assert ran.at(finding.mutation) == "x.mul_(2)"
    assert finding.variable == "x"


def test_a_tensor_made_in_inference_mode_was_made_and_not_taken_from_another(tmp_path: Path) -> None:
    program = "with torch.inference_mode():\n    made = torch.ones(2)\nmade.mul_(2)"
    finding = watched(tmp_path, program).the(rule.INFERENCE)
    assert "It came from `made = torch.ones(2)`" in finding.message
