"""One tensor, or one memory, that a program takes for two: put into a container by both names, given again and again as
if it were copied, or held against itself. Each in several clothes, and what differs from it in the one fact that
decides.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.curing import cured, watch_cell

LOSSES = """
torch.manual_seed(0)
net = nn.Linear(3, 2)
x, y = torch.randn(5, 3), torch.randn(5, 2)
def losses_of(out):
    first = (out - y).square().mean()
    {begin}
    for k in range(2):
        {add}
    {give}
parts = losses_of(net(x))
{read}
"""
AVERAGE = """
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
slow = copy.deepcopy(net){mode}
for p in slow.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = 5 + 3 * torch.randn(20, 3)
for i in range(5):
    opt.zero_grad()
    (net(x) - slow(x).detach() - 1).square().mean().backward()
    opt.step()
    for a, b in zip(slow.parameters(), net.parameters()):
        {average}
    for a, b in zip(slow.buffers(), net.buffers()):
        {buffers}
print(slow.eval()(x).mean())
"""
ITEMS = "print([part.item() for part in parts])"
ADD = "loss += 0.1 * out[:, k].abs().mean()"
FOUND = {
    "a list of both and others": (
        "alias-written",
        ADD,
        LOSSES.format(begin="loss = first", add=ADD, give="return [loss, first] + [loss.detach()]", read=ITEMS),
    ),
    "a dict of keywords": (
        "alias-written",
        "total.add_(out.abs().mean())",
        LOSSES.format(
            begin="total = first",
            add="total.add_(out.abs().mean())",
            give="return dict(total=total, first=first)",
            read='print(parts["first"].item())',
        ),
    ),
    "buffers given in each pass": (
        "written-as-two",
        "a.data = b.data",
        AVERAGE.format(mode="", average="a.lerp_(b, 0.1)", buffers="a.data = b.data"),
    ),
    "two states of a script": (
        "written-as-two",
        "a.data = b.data",
        "a, b = torch.zeros(3), torch.ones(3)\nfor k in range(3):\n    a.data = b.data\n    a.mul_(0.5)\n"
        "    b.add_(1)\nprint(a, b)\n",
    ),
    "two states, one by a part": (
        "written-as-two",
        "a.data = b",
        "a, b = torch.zeros(3), torch.ones(3)\nfor k in range(3):\n    a.data = b\n    a[0] += 1\n    b += 1\n"
        "print(a)\n",
    ),
    "states of two objects": (
        "written-as-two",
        "self.state.data = other.state.detach()",
        "class Cell:\n    def __init__(self):\n        self.state = torch.zeros(2)\n    def run(self, x):\n"
        "        self.state.mul_(0.9).add_(x)\n    def follow(self, other):\n"
        "        self.state.data = other.state.detach()\none, other = Cell(), Cell()\nfor k in range(3):\n"
        "    one.run(1.0)\n    other.run(2.0)\n    one.follow(other)\nprint(one.state, other.state)\n",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_told(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    code, blamed, program = FOUND[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None
    assert ran.blamed(code) == {blamed}


@pytest.mark.parametrize("name", ["a list of both and others", "two states of a script", "states of two objects"])
def test_its_cure_cures(loaded_shell: Any, name: str) -> None:
    code, _blamed, program = FOUND[name]
    source = "import torch\nfrom torch import nn\n" + program.strip("\n")
    report = watch_cell(loaded_shell, source)
    assert any(hazard.diff for hazard in report.hazards if hazard.code == code)
    again = watch_cell(loaded_shell, cured(source, report))
    assert [hazard.code for hazard in again.hazards if hazard.is_alarm] == []


HEALTHY = {
    "the sum is a new tensor": LOSSES.format(
        begin="loss = first", add="loss = loss + out[:, k].abs().mean()", give="return [loss, first] + []", read=ITEMS
    ),
    "the sum began as a copy": LOSSES.format(
        begin="loss = first.clone()", add=ADD, give="return [loss, first] + []", read=ITEMS
    ),
    "the statement did not run": LOSSES.format(
        begin="loss = first if len(out) < 3 else first + 1", add=ADD, give="return [loss, first] + []", read=ITEMS
    ),
    "the name stands for another one": LOSSES.format(
        begin="loss = first", add=ADD, give="first = out.abs().max(); return [loss, first] + []", read=ITEMS
    ),
    "the other one is not in the list": LOSSES.format(
        begin="loss = first", add=ADD, give="return [loss, out] + []", read="print(parts[0].item())"
    ),
    "the entry is not read": "net = nn.Linear(3, 2)\ndata = net(torch.ones(4, 3)).square().mean()\nloss = data\n"
    'loss += 0.1 * net.weight.square().sum()\nhistory = {"all": loss, "data": data}\n'
    'loss.backward()\nprint(history["all"].item())\n',
    "a short name for a state": "class Walk:\n    def __init__(self):\n        self.place = torch.ones(2)\n"
    "    def step(self, move):\n        place = self.place\n        place += move\n"
    '        seen = {"place": place, "state": self.place}\n        return seen\nwalk = Walk()\n'
    'for k in range(3):\n    seen = walk.step(1.0)\nprint(seen["place"], seen["state"])\n',
    "the container was made before": "net = nn.Linear(3, 2)\ndata = net(torch.ones(4, 3)).square().mean()\n"
    'history = {"data": data.item()}\nloss = data\nloss += 0.1 * net.weight.square().sum()\n'
    "loss.backward()\nprint(history)\n",
    "buffers that are copied": AVERAGE.format(mode="", average="a.lerp_(b, 0.1)", buffers="a.copy_(b)"),
    "buffers that get a copy": AVERAGE.format(mode="", average="a.lerp_(b, 0.1)", buffers="a.data = b.data.clone()"),
    "buffers given to one that only reads": AVERAGE.format(
        mode=".eval()", average="a.lerp_(b, 0.1)", buffers="a.data = b.data"
    ),
    "memory given once": "a, b = torch.zeros(3), torch.ones(3)\na.data = b.data\nfor k in range(3):\n"
    "    a.mul_(0.5)\n    b.add_(1)\nprint(a)\n",
    "memory that one of them writes": "a, b = torch.zeros(3), torch.ones(3)\nfor k in range(3):\n"
    "    a.data = b.data\n    b.add_(1)\nprint(a)\n",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, textwrap.dedent(HEALTHY[name]))
    assert ran.plain is None
    assert ran.alarms == [[], []]
