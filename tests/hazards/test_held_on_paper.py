"""A diff that nobody has tried is right, or is not shown: no line is moved below what reads it, no write is left
over, and who else reads the tensor goes on to see what it saw."""

from __future__ import annotations

from typing import Any

import pytest
from hazards.curing import cured, differing, run, watch_cell

START = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\nx = torch.randn(4, 3, requires_grad=True)\n"

PROGRAMS = {
    "another name": "h = torch.sigmoid(x)\nkept = h\nh += 1\n(h * kept).sum().backward()",
    "an attribute beside what a method gave": """\
class Net:
    def step(self, x):
        self.h = torch.sigmoid(x)
        return self.h

net = Net()
out = net.step(x)
out += 1
(out * net.h).sum().backward()""",
    "the caller's name": """\
def act(h):
    h.mul_(2)
    return h

y = torch.sigmoid(x)
z = act(y)
(y + z).sum().backward()""",
    "two slices": "h = torch.exp(x)\na = h[:, 0]\nb = h[:, 1]\na.mul_(2)\nb.mul_(3)\n(a * b).sum().backward()",
    "two columns": "p = x * 1\np[:, 0] = p[:, 0] ** 2\np[:, 1] = p[:, 1] ** 3\np.sum().backward()",
    "an entry of a list": """\
maps = [torch.sigmoid(x), torch.tanh(x)]
first = maps[0]
maps[0] += 1
(first * maps[0]).sum().backward()""",
    "each entry of a list": """\
maps = [torch.sigmoid(x), torch.tanh(x)]
for m in maps:
    m += 1
sum(m.sum() for m in maps).backward()""",
    "what a function took from a dict": """\
def look(box):
    return box["h"]

state = {"h": torch.sigmoid(x)}
seen = look(state)
state["h"] *= 2
(seen + state["h"]).sum().backward()""",
    "channels one after the other": """\
image = torch.sigmoid(x)
for c in range(3):
    image[:, c] = image[:, c] * 2
image.sum().backward()""",
    "a loop in a function, which reads an entry below it": """def train(x):
    state = [torch.full((3,), 2.0)]
    before = x.exp() * state[0]
    for each in state:
        each.add_(1)
    after = x.sin() * state[0]
    (before + after).sum().backward()
    return x.grad

grad = train(x)""",
}

NOT_MOVED = """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(x.detach()).pow(2)
for part in out.unbind(1):
    opt.zero_grad()
    part.sum().backward(retain_graph=True)
    opt.step()"""
ASKED_FOR_ITS_GRADIENT = """\
def field(x, both):
    out = (x * x).sum()
    x.detach().add_(1)
    if both:
        out = torch.autograd.grad(out, x, create_graph=True)[0].sum()
    return out + x.sum()

field(x * 1, True).backward()"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_diffs_of_a_report_leave_what_the_program_meant(loaded_shell: Any, name: str) -> None:
    source = START + PROGRAMS[name]
    meant, error = run(source, as_saved=True)
    assert error == ""
    assert "modified by an inplace operation" in run(source)[1]

    left, error = run(cured(source, watch_cell(loaded_shell, source)))

    assert error == ""
    assert differing(meant, left) == []


@pytest.mark.parametrize("source", [NOT_MOVED, ASKED_FOR_ITS_GRADIENT], ids=["read in the header", "another graph"])
def test_a_change_that_would_fail_in_another_way_is_not_shown(loaded_shell: Any, source: str) -> None:
    report = watch_cell(loaded_shell, START + source)

    assert [hazard.diff for hazard in report.hazards if hazard.severity == "error"] == [""]
