"""Gradients that are not those of the program's own forward are found by running it, without any rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from cells import run_cell
from proving.trying import SILENT, proof_of, verdict_on, watched

from inplace_magic import Hazard, Report
from inplace_magic.rerun.outcome import Outcome, gradient_errors


def unjudged(ip: Any, cell: str) -> Report:
    """The report of a cell as if there were no rules."""
    return replace(watched(ip, cell), findings=())


def silent(report: Report) -> list[Hazard]:
    return [hazard for hazard in report.hazards if hazard.severity == "silent"]


def test_a_wrong_gradient_is_found_and_its_write_named_without_a_rule(ip: Any) -> None:
    (found,) = silent(unjudged(ip, SILENT).prove())

    assert (found.code, found.variable) == ("saved-values-changed", "y")
    assert found.mutation is not None
    assert found.saved is not None
    assert (found.mutation.line, found.saved.line) == (4, 3), "with the magic's line above"
    assert "are not those of its forward" in found.message
    assert found.proof is not None
    assert found.proof.gradient_errors[0].name == "x.grad"


def test_what_a_rule_has_found_is_not_told_twice(ip: Any) -> None:
    run_cell(ip, f"%%inplace_watch -o report --prove\n{SILENT}")
    assert len(silent(ip.user_ns["report"])) == 1


def test_of_two_writes_the_one_that_spoils_the_gradient_is_named(ip: Any) -> None:
    cell = """\
        y = torch.sigmoid(x)
        z = x * y.detach()
        w = torch.exp(x)
        loss = z.sum() + w.sum() * 0
        w.data.mul_(2)
        y.data.zero_()
        loss.backward()"""
    lines = "\n".join(line.strip() for line in cell.splitlines())

    (found,) = silent(unjudged(ip, lines).prove())

    assert found.mutation is not None
    assert found.mutation.text == "y.data.zero_()", "the other one's gradient is multiplied by zero"


def test_a_write_that_the_record_does_not_hold_is_not_guessed(ip: Any) -> None:
    cell = "w = torch.ones(4, requires_grad=True)\nloss = (w * w).sum()\nw.data = torch.zeros(4)\nloss.backward()"

    (found,) = silent(unjudged(ip, cell).prove())

    assert found.mutation is None
    assert "does not tell which" in found.message


@pytest.mark.parametrize(
    "cell",
    [
        "y = torch.relu(x)\ny.data.mul_(1)\ny.sum().backward()",
        "w = torch.ones(4)\ny = x * w\nwith torch.no_grad(): w.data.copy_(w.clone())\ny.sum().backward()",
        "bn = torch.nn.BatchNorm1d(4)\na = torch.randn(3, 4)\n(bn(a) + bn(a * 2)).sum().backward()",
        "o = torch.optim.SGD([x], 1)\nfor _ in '12':\n    o.zero_grad()\n    (x * x).sum().backward()\n    o.step()",
        "d = torch.nn.Dropout(0.5)\n(d(x) * x).sum().backward()",
        "y = torch.sigmoid(x)\ny.data.mul_(3)",
    ],
)
def test_healthy_programs_have_no_such_finding(ip: Any, cell: str) -> None:
    held = ip.user_ns["x"]
    assert unjudged(ip, cell).prove().hazards == []
    assert ip.user_ns["x"] is held


def test_of_gradients_that_overflow_by_themselves_nothing_is_told() -> None:
    meant, written, spoiled = Outcome(), Outcome(), Outcome()
    meant.add("gradient", "w.grad", torch.tensor([float("inf"), 1.0]))
    written.add("gradient", "w.grad", torch.tensor([float("nan"), 2.0]))
    spoiled.add("gradient", "w.grad", torch.tensor([0.5, 1.0]))

    assert gradient_errors(written, meant) == []
    assert [error.name for error in gradient_errors(written, spoiled)] == ["w.grad"], "of a finite one it is"


def test_a_report_without_findings_is_the_same_where_it_cannot_be_run_again(ip: Any) -> None:
    report = unjudged(ip, "y = x * 2")
    assert Report.from_json(report.to_json()).prove() == Report.from_json(report.to_json())


GAN = """\
w = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
a = (x * w).sum() ** 2
b = (w * w * x.detach()).sum()
a.backward(retain_graph=True)
opt.step()
b.backward()
"""


def reason(report: Report) -> str:
    proofs = [hazard.proof for hazard in report.prove().hazards if hazard.severity == "error"]
    assert proofs[0] is not None
    assert proofs[0].verdict == "other numbers"
    return proofs[0].reason


def test_of_other_numbers_finite_differences_say_whether_they_are_the_derivative(ip: Any) -> None:
    run_cell(ip, f"%%inplace_watch -o report\n{GAN}")

    told = reason(ip.user_ns["report"])

    assert "By finite differences in float64, its gradients are the derivative of the loss" in told
    assert torch.get_default_dtype() == torch.float32
    assert ip.user_ns["w"].dtype == torch.float32


def test_where_something_is_detached_they_are_not_and_a_proven_change_comes_first(ip: Any) -> None:
    run_cell(ip, f"%%inplace_watch -o report\n{GAN.replace('(x * w).sum()', '(x * w * w.detach()).sum()')}")
    report = ip.user_ns["report"]

    proof = verdict_on(report)

    assert proof.verdict == "other numbers"
    assert "its gradients are not the derivative of its loss" in proof.reason
    assert proof_of(report).verdict == "proven"


def test_of_a_program_that_insists_on_another_dtype_nothing_is_said(ip: Any) -> None:
    run_cell(ip, f"%%inplace_watch -o report\n{GAN.replace('ones(4,', 'ones(4, dtype=torch.float32,')}")

    assert "finite differences" not in reason(ip.user_ns["report"])
