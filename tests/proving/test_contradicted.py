"""A fix whose gradients are not the derivative of the loss that it computes is not shown, where the fix is why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from cells import run_cell
from proving.trying import first, verdict_on, watched, with_diff

from inplace_magic.render.fixes import proof_line

LEAF = """\
text = x.detach().requires_grad_(True)
flat = text.view(-1, 2)
flat.index_copy_(0, torch.tensor([1]), torch.ones(1, 2))
flat.pow(2).sum().backward()"""
WITHOUT_HISTORY = """\
y = x * 2
for c in range(3):
    y.data[c] = y.data[c].clamp(-1, 1)
torch.tanh(y).sum().backward()"""
EXPANDED = "rows = torch.ones(1, 4).expand(2, 4)\nrows *= x\nrows.sum().backward()"


def test_no_grad_where_the_written_tensor_goes_on_into_the_loss_is_refuted(ip: Any) -> None:
    report = watched(ip, LEAF)
    under = "@@ Cell In[{cell}], line 4 @@\n-{line}\n+with torch.no_grad():\n+    {line}"
    diff = under.format(cell=report.trace.cell, line=LEAF.splitlines()[2])

    proof = verdict_on(with_diff(report, diff))

    assert proof.verdict == "refuted"
    assert "not the derivative of the loss" in proof.reason


def test_the_form_that_is_shown_instead_has_the_gradients_of_its_loss(ip: Any) -> None:
    proved = first(watched(ip, LEAF).prove())

    assert "+flat = flat.index_copy(" in proved.diff
    assert proved.proof is not None
    assert "its gradients are the derivative of the loss" in proved.proof.reason


def test_a_warnings_diff_is_tried_as_well_and_takes_data_off_both_sides(ip: Any) -> None:
    proved = first(watched(ip, WITHOUT_HISTORY).prove())

    assert proved.severity == "warning"
    assert "+    y[c] = y[c].clone().clamp(-1, 1)" in proved.diff
    assert proved.proof is not None
    assert "its gradients are the derivative of the loss" in proved.proof.reason


def test_a_warnings_diff_that_cuts_the_gradient_off_is_not_shown(ip: Any) -> None:
    report = watched(ip, WITHOUT_HISTORY)
    half = first(report).diff.replace("y[c].clone().clamp", "y.data[c].clamp")

    proved = first(with_diff(report, half).prove())

    assert proved.proof is not None
    assert (proved.proof.verdict, proved.diff) == ("refuted", "")


def test_a_program_that_never_had_numbers_is_not_said_to_have_others(ip: Any) -> None:
    line = proof_line(first(watched(ip, EXPANDED).prove()))

    assert "no numbers to compare with" in line
    assert "other numbers" not in line


def test_where_no_candidate_is_right_they_were_tried_and_the_fix_in_words_was_not(ip: Any) -> None:
    run_cell(
        ip, "%%inplace_watch -o report\nfor row, part in zip(x.exp().view(2, 2), torch.ones(2)):\n    row[1] = part"
    )
    report = ip.user_ns["report"]

    proof = first(replace(report, findings=(replace(first(report), diff=""),)).prove()).proof

    assert proof is not None
    assert (proof.verdict, "not right" in proof.reason or "none is right" in proof.reason) == ("not tried", True)
    assert ip.user_ns["x"].grad is None
    assert torch.is_grad_enabled()


def test_a_hook_that_the_fix_leaves_a_hook_is_the_programs_own(ip: Any) -> None:
    own = "z = x.tanh() * 1\ny = x * 1\ny.register_hook(lambda g: g.mul_(0.1))\n(y + z).square().sum().backward()"

    shown = first(watched(ip, own).prove())

    assert "+y.register_hook(lambda g: g * 0.1)" in shown.diff
    assert shown.proof is not None
    assert shown.proof.verdict == "other numbers"
    assert "it does not refute the fix" in shown.proof.reason


def test_gradients_that_the_program_itself_cuts_off_are_not_held_against_a_fix_and_are_said(ip: Any) -> None:
    own = f"{LEAF.rpartition(chr(10))[0]}\n(flat.pow(2) * flat.detach()).sum().backward()"

    proof = first(watched(ip, own).prove()).proof

    assert proof is not None
    assert proof.verdict == "other numbers"
    assert "it does not refute the fix" in proof.reason
