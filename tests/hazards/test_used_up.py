"""A backward into a graph that was used up: which change is offered; none keeps a graph whose values a step changed."""

from __future__ import annotations

from typing import Any

import pytest
from cells import run_cell
from hazards.curing import watch_cell

from inplace_magic import Hazard

HEAD = """\
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
cell = torch.nn.RNN(3, 3)
x = torch.randn(2, 3)
"""
STATE = """\
h = None
for step in range(3):
    out, h = cell(x[:, None], h)
    loss = out.pow(2).mean()
    loss.backward()
"""
ABOVE = """\
hidden = net(x)
loss = hidden.pow(2).mean()
for step in range(3):
    opt.zero_grad()
    loss.backward()
    {step}
"""
SHARED = "y = torch.tanh(net(x))\ny.sum().backward()\n(y * y).sum().backward()\n"
AGAIN = "out = net(x)\nout.sum().backward()\nopt.step()\n(out * out).sum().backward()\n"


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    run_cell(loaded_shell, HEAD)
    return loaded_shell


def tried(ip: Any, cell: str) -> Hazard:
    (hazard,) = (each for each in watch_cell(ip, cell).prove().hazards if each.severity == "error")
    assert hazard.code == "graph-used-twice"
    return hazard


def test_a_state_that_may_begin_as_none_is_cut_off_below_the_backward(ip: Any) -> None:
    hazard = tried(ip, STATE)
    assert hazard.diff.endswith("     loss.backward()\n+    h = h.detach()")
    assert hazard.proof is not None
    assert hazard.proof.verdict == "other numbers", "gradients end where the pass begins, which the words say"


@pytest.mark.parametrize("step", ["opt.step()", "net[0].weight.data += 0.1"])
def test_a_loss_from_above_a_loop_that_steps_moves_into_it(ip: Any, step: str) -> None:
    """However the weights are written: keeping the graph would train on the old values, in silence."""
    hazard = tried(ip, ABOVE.format(step=step))
    assert "+    hidden = net(x)\n+    loss = hidden.pow(2).mean()" in hazard.diff
    assert "retain_graph" not in hazard.diff


def test_after_a_step_what_the_second_loss_reads_is_computed_once_more(ip: Any) -> None:
    hazard = tried(ip, AGAIN)
    assert hazard.diff.endswith(" opt.step()\n+out = net(x)")


def test_where_nothing_changed_keeping_the_graph_is_proven(ip: Any) -> None:
    hazard = tried(ip, SHARED)
    assert hazard.diff.endswith("-y.sum().backward()\n+y.sum().backward(retain_graph=True)")
    assert hazard.proof is not None
    assert hazard.proof.verdict == "proven"


def test_of_a_loop_that_changes_nothing_the_backward_itself_keeps_it(ip: Any) -> None:
    hazard = tried(ip, ABOVE.format(step="pass"))
    assert hazard.diff.endswith("+    loss.backward(retain_graph=True)")
