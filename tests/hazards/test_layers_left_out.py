"""Layers in a plain container of a module, which no optimizer gets: told by who holds and who writes them, and not
told of what differs in that one fact."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, plainly, watched

from inplace_magic.hazards.training import layers_left_out as rule

DATA = """
torch.manual_seed(0)
x = torch.randn(8, 4)
y = x.sum(1, keepdim=True)
def loss_of(net):
    return (net(x) - y).square().mean()
def train(net, optimizer, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
"""
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(2)]
        self.head = nn.Linear(4, 1)
    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(x)
net = Net()
"""
SGD = "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
SETUP = "torch.manual_seed(0)\nx = torch.ones(3, 4)"


def test_the_bad_program_of_the_page_is_blamed_at_its_line(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    assert ran.error is None
    (found,) = [each for each in ran.report.hazards if each.code == rule.CODE]
    assert found.mutation is not None
    assert found.mutation.text == "self.layers = [nn.Linear(4, 4) for _ in range(2)]"
    assert found.read is not None
    assert found.read.text == "opt.step()"
    assert "`net.layers`" in found.message
    assert "the 4 parameters" in found.message
    assert "nn.ModuleList" in found.fix


def test_the_good_program_of_the_page_is_quiet(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Good"))
    assert ran.error is None
    assert [each.code for each in ran.report.hazards if each.severity != "info"] == []


def test_pytorch_says_nothing_and_gives_something_else(tmp_path: Path) -> None:
    def moved(title: str) -> bool:
        plain = plainly(tmp_path, SETUP, example(rule, title))
        assert plain.error is None
        return "layers.0.weight" in plain.names["net"].state_dict()

    assert (moved("Bad"), moved("Good")) == (False, True)


FOUND = {
    "a list that is appended to, in a block of a block": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.steps = []
                for _ in range(2):
                    self.steps.append(nn.Linear(4, 4))
            def forward(self, x):
                for step in self.steps:
                    x = torch.relu(step(x))
                return x
        net = nn.Sequential(Block(), nn.Linear(4, 1))
        train(net, torch.optim.Adam(net.parameters()))
        """,
    "a dict of heads": """
        class Heads(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(4, 4)
                self.heads = {name: nn.Linear(4, 1) for name in ("day", "night")}
            def forward(self, x):
                h = self.body(x)
                return self.heads["day"](h) + self.heads["night"](h)
        net = Heads()
        train(net, torch.optim.SGD(net.parameters(), lr=0.1))
        """,
    "a tuple, and a model that an object of the user's trains": """
        class Pair(nn.Module):
            def __init__(self):
                super().__init__()
                self.pair = (nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
                self.out = nn.Linear(4, 1)
            def forward(self, x):
                for each in self.pair:
                    x = each(x)
                return self.out(x)
        class Trainer:
            def __init__(self):
                self.net = Pair()
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
            def run(self):
                for _ in range(3):
                    self.optimizer.zero_grad()
                    loss_of(self.net).backward()
                    self.optimizer.step()
        Trainer().run()
        """,
    "layers of which some are filled and not drawn": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scales, self.out = [nn.LayerNorm(4), nn.Linear(4, 4), nn.LayerNorm(4)], nn.Linear(4, 1)
            def forward(self, x):
                for scale in self.scales:
                    x = scale(x)
                return self.out(x)
        net = Net()
        train(net, torch.optim.SGD(net.parameters(), lr=0.1))
        """,
    "pairs of layers in a list, recurrent": """
        class Cells(nn.Module):
            def __init__(self):
                super().__init__()
                self.cells = [(nn.GRUCell(4, 4), nn.Linear(4, 4)) for _ in range(2)]
                self.out = nn.Linear(4, 1)
            def forward(self, x):
                for cell, mix in self.cells:
                    x = mix(cell(x))
                return self.out(x)
        net = Cells()
        train(net, torch.optim.SGD(net.parameters(), lr=0.1))
        """,
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_told_in_other_clothes(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, DATA + textwrap.dedent(FOUND[name]))
    assert ran.plain is None
    assert ran.the(rule.CODE)


HEALTHY = {
    "the order of layers that are registered": NET.replace(
        "[nn.Linear(4, 4) for _ in range(2)]", "[]\n        self.first = nn.Linear(4, 4)"
    ).replace("net = Net()", "net = Net()\nnet.layers += [net.first, net.first]")
    + SGD
    + "train(net, optimizer)",
    "a frozen teacher": NET.replace(
        "range(2)]", "range(2)]\n        [each.requires_grad_(False) for each in self.layers]"
    )
    + SGD
    + "train(net, optimizer)",
    "layers that are asked without gradients": NET.replace("torch.tanh(layer(x))", "torch.tanh(layer(x)).detach()")
    + SGD
    + "train(net, optimizer)",
    "a head alone is trained": NET.replace("self.head =", "self.body = nn.Linear(4, 4)\n        self.head =").replace(
        "return self.head(x)", "return self.head(self.body(x))"
    )
    + "train(net, torch.optim.SGD(net.head.parameters(), lr=0.1))",
    "a second optimizer": NET
    + SGD
    + "second = torch.optim.SGD([p for each in net.layers for p in each.parameters()], lr=0.01)\n"
    "for _ in range(3):\n    optimizer.zero_grad()\n    second.zero_grad()\n"
    "    loss_of(net).backward()\n    optimizer.step()\n    second.step()",
    "a second optimizer that does not step yet": NET
    + SGD
    + "second = torch.optim.SGD([p for each in net.layers for p in each.parameters()], lr=0.01)\n"
    "train(net, optimizer)",
    "one optimizer with both": NET
    + "inner = [p for each in net.layers for p in each.parameters()]\n"
    + "train(net, torch.optim.SGD([*net.parameters(), *inner], lr=0.1))",
    "handed over later": NET
    + SGD
    + "train(net, optimizer)\n"
    + "optimizer.add_param_group({'params': [p for each in net.layers for p in each.parameters()]})\n"
    + "train(net, optimizer)",
    "stepped by hand": NET + SGD + "for _ in range(3):\n    train(net, optimizer, 1)\n    for each in net.layers:\n"
    "        for p in each.parameters():\n            p.data -= 0.1 * p.grad",
    "stepped by hand, and set": NET
    + SGD
    + "for _ in range(3):\n    train(net, optimizer, 1)\n    for each in net.layers:\n"
    "        for p in each.parameters():\n            p.data = p.data - 0.1 * p.grad",
    "gradients that are measured": NET + SGD + "for _ in range(3):\n    train(net, optimizer, 1)\n"
    "    sizes = [p.grad.norm().item() for each in net.layers for p in each.parameters()]",
    "a network of somebody else's, hidden from the list of parameters": NET.replace("net = Net()", "")
    + "class Judge(nn.Module):\n    def __init__(self, net):\n        super().__init__()\n"
    "        self.net, self.scale = list(net), nn.Linear(4, 4)\n"
    "    def forward(self, x):\n        return self.net[1](self.net[0](self.scale(x)))\n"
    "other = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))\nnet = Judge(other)\n" + SGD + "train(net, optimizer)",
    "a network with values that were loaded": NET + "state = [nn.Linear(4, 4).state_dict() for _ in net.layers]\n"
    "net.layers[0].load_state_dict(state[0])\nnet.layers[1].load_state_dict(state[1])\n"
    + SGD
    + "train(net, optimizer)",
    "a network with values that were set": NET
    + "for each in net.layers:\n    each.weight.data = torch.eye(4)\n"
    + SGD
    + "train(net, optimizer)",
    "values that are set between the steps": NET
    + SGD
    + "for _ in range(3):\n    train(net, optimizer, 1)\n    for each in net.layers:\n"
    "        each.weight.data = each.weight.data.clamp(-1, 1)",
    "a plain object that gives its own parameters": NET.replace("(nn.Module)", "")
    .replace("        super().__init__()\n", "")
    .replace("def forward", "def __call__")
    + "parameters = [p for each in (*net.layers, net.head) for p in each.parameters()]\n"
    + "train(net, torch.optim.SGD(parameters, lr=0.1))",
    "a random network, hidden alone": NET.replace("range(2)", "range(1)") + SGD + "train(net, optimizer)",
    "copies of a network that is only asked": NET
    + "import copy\nnet.layers = [copy.deepcopy(each) for each in net.layers]\n"
    + SGD
    + "train(net, optimizer)",
    "one backward in all": NET + SGD + "train(net, optimizer, 1)",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, DATA + textwrap.dedent(HEALTHY[name]))
    assert ran.plain is None
    assert [code for alarms in ran.alarms for code, _place in alarms if code == rule.CODE] == []
