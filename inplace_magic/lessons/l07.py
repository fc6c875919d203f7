"""Lesson 7: branches, residuals and aliases."""

from __future__ import annotations

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Exercise
from inplace_magic.lessons.repairs import broken

EXERCISES = (
    Exercise(
        key="7.1",
        judge=broken("7.1"),
        hints=(
            lambda: _("The block writes what it is given. What is it given, and who reads that too?"),
            lambda: _("Give the block a tensor that nobody else reads."),
        ),
        solution="def residual(block, x):\n    return x + block(x.clone())",
        because=lambda: _(
            "The block rectifies a copy, and the shortcut reads the old `x`. (`nn.ReLU(inplace=False)` in the block "
            "would do as well, and costs the same: one tensor.)"
        ),
    ),
    Exercise(
        key="7.2",
        judge=broken("7.2"),
        hints=(
            lambda: _("`.data` hides the write from autograd. Which gradient belongs to a gate that was lifted?"),
            lambda: _("`clamp` without an underscore, and without `.data`."),
        ),
        solution=(
            "def gated(x, weight):\n    gate = torch.sigmoid(x @ weight)\n    gate = gate.clamp(min=0.3)\n"
            "    return gate * x.sum(-1, keepdim=True)"
        ),
        because=lambda: _(
            "Autograd sees the clamp: where the gate was lifted the gradient is zero, elsewhere it is that of sigmoid, "
            "computed from the values that sigmoid really gave."
        ),
    ),
)
