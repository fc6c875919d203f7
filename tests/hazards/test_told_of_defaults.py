"""What is made once for all calls of a function, or for all objects of a class; and what
differs from each in the one fact that decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

FOUND = {
    "other elements of a default table": (
        "default-argument-written",
        """
def confusion(pred, true, table=torch.zeros(2, 2)):
    for p, t in zip(pred, true):
        table[t, p] += 1
    return table
train = confusion([0, 0], [0, 0]).sum().item()
test = confusion([1], [1])
""",
    ),
    "other elements of a default given by keyword": (
        "default-argument-written",
        """
def scatter(values, at, *, canvas=torch.zeros(4)):
    canvas[at:at + len(values)] += values
    return canvas
left = scatter(torch.ones(2), 0).clone()
right = scatter(torch.ones(2), 2)
""",
    ),
    "a default list that a forward fills": (
        "default-argument-written",
        """
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
    def forward(self, x, hidden=[]):
        for layer in self.layers:
            x = layer(x)
            hidden.append(x)
        return torch.stack(hidden).mean(0)
net = Net()
with torch.no_grad():
    a = net(torch.ones(1, 2))
    b = net(-torch.ones(1, 2))
    want = Net.forward(net, -torch.ones(1, 2), [])
""",
    ),
    "a default list that a helper fills": (
        "default-argument-written",
        """
def smooth(x, window=[]):
    y = torch.tanh(x)
    window.append(y)
    return torch.vstack(window).mean(0)
def left(x): return smooth(x)
def right(x): return smooth(x)
l = left(torch.ones(3)); r = right(-torch.ones(3))
""",
    ),
    "a list of the class that two methods share": (
        "class-attribute-written",
        """
class Recorder:
    frames = []
    def push(self, x):
        self.frames.append(x.flatten())
        return self.clip()
    def clip(self):
        return torch.stack(self.frames)
left, right = Recorder(), Recorder()
left.push(torch.ones(2, 2))
clip = right.push(torch.zeros(2, 2))
""",
    ),
    "a list of the class that two networks fill": (
        "class-attribute-written",
        """
class Tower(nn.Module):
    skips = []
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
    def forward(self, x):
        for _ in range(2):
            x = self.body(x)
            self.skips.append(x)
        return torch.cat(self.skips, 1)
torch.manual_seed(0)
query, key = Tower(), Tower()
with torch.no_grad():
    q = query(torch.ones(3, 2))
    k = key(torch.ones(3, 2))
""",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_told(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    code, program = FOUND[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None
    assert ran.codes == [{code}, {code}]


HEALTHY = {
    "defaults: handed": """
def confusion(pred, true, table=torch.zeros(2, 2)):
    for p, t in zip(pred, true):
        table[t, p] += 1
    return table
mine = torch.zeros(2, 2)
confusion([0, 0], [0, 0], mine)
test = confusion([1], [1])
""",
    "defaults: zeroed": """
def confusion(pred, true, table=torch.zeros(2, 2)):
    table.zero_()
    for p, t in zip(pred, true):
        table[t, p] += 1
    return table
a = confusion([0, 0], [0, 0]).sum().item()
b = confusion([1], [1]).sum().item()
""",
    "defaults: fresh": """
def confusion(pred, true, table=torch.zeros(2, 2)):
    table = table.clone()
    for p, t in zip(pred, true):
        table[t, p] += 1
    return table
a = confusion([0, 0], [0, 0]).sum().item()
b = confusion([1], [1]).sum().item()
""",
    "defaults: counter in a loop": """
def visit(i, seen=torch.zeros(4)):
    seen[i] += 1
    return seen
for i in (0, 1, 1, 3):
    seen = visit(i)
""",
    "grown: handed list": """
def total_loss(preds, target, terms=[]):
    for p in preds:
        terms.append((p - target).square().mean())
    return torch.stack(terms).sum()
t, mine = torch.zeros(3), []
train = total_loss([torch.ones(3)], t, mine)
val = total_loss([torch.full((3,), 0.5)], t)
""",
    "grown: none list": """
def total_loss(preds, target, terms=None):
    terms = [] if terms is None else terms
    for p in preds:
        terms.append((p - target).square().mean())
    return torch.stack(terms).sum()
t = torch.zeros(3)
train = total_loss([torch.ones(3)], t)
val = total_loss([torch.full((3,), 0.5)], t)
""",
    "grown: window in a loop": """
def smooth(x, window=[]):
    window.append(x)
    del window[:-3]
    return torch.stack(window).mean()
curve = []
for k in range(5):
    curve.append(smooth(torch.tensor(float(k))).item())
""",
    "grown: memo": """
def table(n, cache={}):
    if n not in cache:
        cache[n] = torch.arange(n).float()
    return cache[n]
def both(a, b): return torch.cat([table(a), table(b)])
one, two = both(2, 3), both(3, 2)
again = torch.stack([table(2), table(2)])
""",
    "grown: object list": """
class Recorder:
    def __init__(self): self.frames = []
    def push(self, x):
        self.frames.append(x.flatten())
        return torch.stack(self.frames)
left, right = Recorder(), Recorder()
left.push(torch.ones(2, 2))
clip = right.push(torch.zeros(2, 2))
""",
    "grown: bank of the class": """
class Recorder:
    frames = []
    def push(self, x):
        Recorder.frames.append(x.flatten())
        return torch.stack(self.frames)
left, right = Recorder(), Recorder()
left.push(torch.ones(2, 2))
clip = right.push(torch.zeros(2, 2))
""",
    "grown: cleared": """
class Recorder:
    frames = []
    def push(self, xs):
        self.frames.clear()
        for x in xs: self.frames.append(x.flatten())
        return torch.stack(self.frames)
left, right = Recorder(), Recorder()
left.push(torch.ones(2, 2))
clip = right.push(torch.zeros(2, 2))
""",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[name])
    assert ran.plain is None
    assert ran.alarms == [[], []]
