"""A step that found no gradient is told where nothing else moved what backward filled, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import watched

CODE = "step-without-gradients"
NETWORKS = """
first, second, x = nn.Linear(2, 1), nn.Linear(2, 1), torch.ones(3, 2)
one, other = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (first, second))
"""


def test_layers_that_were_replaced_are_not_the_optimizers(loaded_shell: Any, tmp_path: Path) -> None:
    program = (
        NETWORKS + "first.weight = nn.Parameter(torch.zeros(1, 2))\n"
        "first.bias = None\nfirst(x).sum().backward()\none.step()\nmoved = first.weight.abs().sum().item() > 0\n"
    )
    ran = told(loaded_shell, tmp_path, program)

    assert ran.plain is None
    assert ran.names["moved"] is False  # PyTorch is silent, and nothing was trained
    for finding in ran.the(CODE):
        assert finding.mutation is not None
        assert finding.mutation.text == "one.step()"
        assert finding.variable == "first.weight"
        assert "no parameter of the SGD has a gradient" in finding.message
        assert "filled the gradients of other tensors (`first.weight`)" in finding.message


def test_gradients_cleared_before_the_step_are_told_as_that(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, NETWORKS + "first(x).sum().backward()\none.zero_grad()\none.step()\n")

    for finding in ran.the(CODE):
        assert (
            "filled the gradients (`first.bias` and 1 more), and they were cleared before the step" in finding.message
        )
        assert "before `backward`" in finding.fix


@pytest.mark.parametrize(
    "healthy",
    [
        "one.step()\nfirst(x).sum().backward()\none.step()",  # the first step is for a scheduler
        "first(x).sum().backward()\nother.step()\none.step()",  # two optimizers, one with nothing to do
        "first(x).sum().backward()\none.step()\none.zero_grad()\none.step()",
        "first(x).sum().backward()\none.zero_grad()\none.step()\nfirst(x).sum().backward()\none.step()",  # one skipped
        "first(x).sum().backward()\nother.step()\nwith torch.no_grad():\n    first.bias -= first.bias.grad",
        "lbfgs = torch.optim.LBFGS(first.parameters())\n"
        "def closure():\n    lbfgs.zero_grad()\n    loss = first(x).pow(2).sum()\n"
        "    loss.backward()\n    return loss\n"
        "second(x).sum().backward()\nlbfgs.step(closure)",
        "class Own(torch.optim.Optimizer):\n    def step(self):\n        with torch.no_grad():\n"
        "            for p in self.param_groups[0]['params']:\n                p -= 0.1\n"
        "own = Own(first.parameters(), {})\nfirst(x).sum().backward()\nown.zero_grad()\nown.step()",
        "torch.autograd.grad(first(x).sum(), list(first.parameters()))\none.step()",
    ],
)
def test_steps_that_may_well_have_nothing_to_do_are_left_alone(healthy: str, tmp_path: Path) -> None:
    ran = watched(tmp_path, NETWORKS, healthy)

    assert ran.error is None
    assert CODE not in ran.codes()


def test_an_optimizer_runs_no_hook_of_ours_when_the_watch_is_over(tmp_path: Path) -> None:
    from torch.optim import optimizer

    before = dict(optimizer._global_optimizer_pre_hooks)
    watched(tmp_path, NETWORKS, "first(x).sum().backward()\none.step()")

    assert dict(optimizer._global_optimizer_pre_hooks) == before
