"""A fix is tried on copies before it is claimed: what is proven, what is refuted, and what is only another number."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch
from cells import run_cell
from programs import packed
from proving.trying import BROKEN, SILENT, first, proof_of, verdict_on, watched, with_diff

from inplace_magic.hazards.fixes import candidates


def test_a_fix_that_gives_the_bits_of_the_forward_is_proven(ip: Any) -> None:
    report = watched(ip, BROKEN)
    assert first(report).proof is None, "nothing was tried"

    tried = report.prove()

    proof = first(tried).proof
    assert proof is not None
    assert (proof.verdict, proof.differences) == ("proven", ())
    assert first(tried).diff == first(report).diff
    assert "Proven" in tried.to_text()
    assert "Proven" in tried.to_html()
    assert "Proven" not in report.to_html()


def test_prove_on_the_magic_line_tries_from_what_the_variables_held_before_the_cell(ip: Any) -> None:
    run_cell(ip, "z = torch.ones(3, requires_grad=True)\nz.grad = torch.ones(3)\ncount = 0")
    cell = "count += 1\nassert count == 1\nz = z * 1\ny = torch.sigmoid(z)\ny.mul_(2)\ny.sum().backward()"

    tried = watched(ip, cell, "--prove")

    assert first(tried).proof.verdict == "proven"  # type: ignore[union-attr]
    assert ip.user_ns["count"] == 1
    later = first(tried.prove()).proof
    assert later is not None
    assert later.verdict == "not tried", "the count has moved on"
    assert "ends otherwise: AssertionError" in later.reason


def test_a_silent_finding_says_how_wrong_the_gradient_is(ip: Any) -> None:
    x = ip.user_ns["x"]
    right = (2 * torch.sigmoid(x) * torch.sigmoid(x) * (1 - torch.sigmoid(x))).detach()

    tried = watched(ip, SILENT, "--prove")

    proof = next(h.proof for h in tried.hazards if h.severity == "silent")
    assert proof is not None
    (error,) = proof.gradient_errors
    assert error.name == "x.grad"
    assert error.relative == pytest.approx(float((x.grad - right).norm() / right.norm()), rel=1e-4)
    assert error.values == pytest.approx((float(x.grad[error.element]), float(right[error.element])))
    assert f"the gradient of `x` is off by {error.relative:.0%}" in proof.reason


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("y.mul_(2)  # as before", "still raises: RuntimeError: one of the variables"),
        ("y = y.detach() * 2", "still raises: RuntimeError: element 0 of tensors does not require grad"),
        ("y = y * 2; x.data.zero_()", "One number differs: `x[0]` is 0 instead of"),
        ("raise KeyError", "still raises: KeyError"),
    ],
)
def test_a_fix_that_cures_nothing_is_refuted_and_another_is_shown(ip: Any, new: str, reason: str) -> None:
    report = watched(ip, BROKEN)
    vain = f"@@ Cell In[{report.trace.cell}], line 3 @@\n-y.mul_(2)\n+{new}"

    proof = verdict_on(with_diff(report, vain))
    tried = first(with_diff(report, vain).prove())

    assert reason in proof.reason
    assert tried.proof is not None
    if proof.verdict == "refuted":
        assert tried.diff.endswith("-y.mul_(2)\n+y = y * 2")
        assert tried.proof.verdict == "proven"
    else:
        assert proof.verdict == "other numbers"
        assert "x" in [difference.name for difference in proof.differences]
        assert tried.proof == proof


def test_a_fix_that_cuts_a_parameter_off_is_refuted(ip: Any) -> None:
    report = watched(ip, "w = torch.ones(4, requires_grad=True)\ny = x * 2\nz = y * w\ny.mul_(2)\nz.sum().backward()")
    diff = f"@@ Cell In[{report.trace.cell}], line 4 @@\n-z = y * w\n+z = y.clone() * w.detach()"

    proof = verdict_on(with_diff(report, diff))

    assert (proof.verdict, proof.reason) == ("refuted", "With it no gradient reaches `w` any more.")


def test_where_every_change_is_refuted_none_is_shown(ip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "WAYS", ())
    report = watched(ip, BROKEN)
    vain = f"@@ Cell In[{report.trace.cell}], line 3 @@\n-y.mul_(2)\n+y.mul_(2)  # as before"

    tried = first(with_diff(report, vain).prove())

    assert tried.proof is not None
    assert tried.proof.verdict == "refuted"
    assert (tried.diff, tried.fix) == ("", "No change that was tried cures it.")


SPLIT = """\
h = x * 1
parts = torch.split(h, 2)
parts[0].mul_(torch.sigmoid(parts[1]))
(parts[0] + parts[1]).sum().backward()
"""


def test_where_no_fact_gives_a_fix_candidates_are_tried_and_the_proven_one_is_shown(ip: Any) -> None:
    report = watched(ip, packed.source_of(packed.FURTHER, "reduce_with_iadd_over_branches"))
    assert first(report).diff == ""

    tried = first(report.prove())

    assert ".clone()" in tried.diff
    assert tried.proof is not None
    assert tried.proof.verdict == "proven"


def test_of_a_write_that_is_refused_a_candidate_must_leave_the_loss_as_it_is(ip: Any) -> None:
    report = watched(ip, SPLIT)
    assert (first(report).code, first(report).diff) == ("multi-output-view-written", "")

    tried = first(report.prove())

    assert "+parts = [part.clone() for part in torch.split(h, 2)]" in tried.diff
    assert tried.proof is not None
    assert tried.proof.verdict == "other numbers"
    assert "its loss, computed without autograd, has the same bits" in tried.proof.reason
    run_cell(ip, SPLIT.replace("torch.split(h, 2)", "[part.clone() for part in torch.split(h, 2)]"))
    assert ip.user_ns["x"].grad is not None


def test_where_the_program_packs_saved_tensors_itself_nothing_is_called_proven(ip: Any) -> None:
    run_cell(ip, "from torch.utils.checkpoint import checkpoint\nscale = torch.ones(())")
    cell = """\
        def block(t):
            return torch.sigmoid(t * scale) * scale
        loss = checkpoint(block, x, use_reentrant=False).sum()
        scale.mul_(2)
        loss.backward()"""
    report = watched(ip, textwrap.dedent(cell))

    proofs = [hazard.proof for hazard in report.prove().hazards if hazard.severity == "silent"]

    assert proofs
    assert all(proof is not None and proof.verdict != "proven" for proof in proofs)


@pytest.mark.parametrize(
    "before",
    [
        "none = torch.zeros(0, 3)",
        "from dataclasses import dataclass, field\n@dataclass\nclass R:\n    parts: list = field(default_factory=list)",
    ],
    ids=["a tensor without elements", "what a library asks by identity"],
)
def test_a_program_is_tried_whatever_stands_beside_the_mistake(ip: Any, before: str) -> None:
    assert proof_of(watched(ip, f"{before}\n{BROKEN}")).verdict == "proven"
    other = with_diff(report := watched(ip, f"{before}\n{BROKEN}"), first(report).diff.replace("* 2", "* 3"))
    assert verdict_on(other).verdict == "other numbers"
