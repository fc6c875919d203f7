"""A module that is made once for all objects, and rows that lie on one another; and what
differs from each in the one fact that decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

FOUND = {
    "a default projection that another encoder trains": (
        "default-argument-written",
        """
class Encoder(nn.Module):
    def __init__(self, width, proj=nn.Linear(4, 4)):
        super().__init__()
        self.inp = nn.Linear(3, width)
        self.proj = proj
    def forward(self, x): return self.proj(self.inp(x))
torch.manual_seed(0)
query, key = Encoder(4), Encoder(4)
x = torch.randn(6, 3)
frozen = key(x).detach()
opt = torch.optim.SGD(query.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); (query(x) - 1).square().mean().backward(); opt.step()
drift = (key(x) - frozen).abs().max().item()
""",
    ),
    "a default net of two policies": (
        "default-argument-written",
        """
class Policy:
    def __init__(self, net=nn.Linear(2, 1)):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def value(self, s): return self.net(s)
    def learn(self, s, r):
        loss = (self.net(s) - r).square().mean()
        self.opt.zero_grad(); loss.backward(); self.opt.step()
torch.manual_seed(0)
cat, mouse = Policy(), Policy()
s = torch.randn(5, 2)
with torch.no_grad():
    before = mouse.value(s)
for _ in range(3):
    cat.learn(s, 1.0)
with torch.no_grad():
    after = mouse.value(s)
""",
    ),
    "a default normalisation of two blocks": (
        "default-argument-written",
        """
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, n, norm=nn.BatchNorm1d(3)):
        super().__init__()
        self.lin, self.norm = nn.Linear(n, 3), norm
    def forward(self, x): return torch.relu(self.norm(self.lin(x)))
a, b = Block(2), Block(4)
for _ in range(3):
    a(torch.randn(8, 2)); b(torch.randn(8, 4) + 9)
want = nn.BatchNorm1d(3)
torch.manual_seed(0)
""",
    ),
    "a default normalisation in a stack": (
        "default-argument-written",
        """
torch.manual_seed(0)
class Layer(nn.Module):
    def __init__(self, n, *, norm=nn.BatchNorm1d(4, affine=False)):
        super().__init__()
        self.norm = norm
        self.weight = nn.Parameter(torch.randn(4, n))
    def forward(self, x):
        y = torch.nn.functional.linear(x, self.weight)
        return self.norm(y)
net = nn.Sequential(Layer(3), Layer(4), Layer(4))
for _ in range(4): net(torch.randn(6, 3))
net.eval()
""",
    ),
    "a default meter of two gauges": (
        "default-argument-written",
        """
class Running:
    def __init__(self): self.total = torch.zeros(1)
    def __call__(self, x):
        self.total += x.sum()
        return self.total
class Gauge:
    def __init__(self, name, meter=Running()):
        self.name, self.meter = name, meter
    def read(self, x): return self.meter(x).item()
rain, snow = Gauge("rain"), Gauge("snow")
rain.read(torch.ones(3))
got = snow.read(torch.ones(2))
""",
    ),
    "frames that are gone through": (
        "expanded-tensor-written",
        """
x = torch.arange(8.0)
frames = x.unfold(0, 4, 2)
for f in frames:
    f.sub_(f.mean())
energy = frames.square().sum(1)
""",
    ),
    "frames of an object": (
        "expanded-tensor-written",
        """
class Spectrum:
    def __init__(self, signal, n):
        self.parts = signal.unfold(0, n, n // 2)
    def tapered(self, window):
        for part in self.parts:
            part.mul_(window)
        return self.parts.sum(1)
s = Spectrum(torch.ones(8), 4).tapered(torch.full((4,), 0.5))
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
    "defmodule: handed": """
class Model(nn.Module):
    def __init__(self, n, head=nn.Linear(2, 1)):
        super().__init__()
        self.body, self.head = nn.Linear(n, 2), head
    def forward(self, x): return self.head(torch.tanh(self.body(x)))
torch.manual_seed(0)
shared = nn.Linear(2, 1)
day, night = Model(2, shared), Model(2, shared)
x = torch.randn(8, 2)
opt = torch.optim.SGD(day.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); day(x).square().mean().backward(); opt.step()
out = night(x)
""",
    "defmodule: activation": """
class Model(nn.Module):
    def __init__(self, n, act=nn.ReLU()):
        super().__init__()
        self.body, self.act = nn.Linear(n, 2), act
    def forward(self, x): return self.act(self.body(x))
torch.manual_seed(0)
day, night = Model(2), Model(2)
x = torch.randn(8, 2)
before = night(x).detach()
opt = torch.optim.SGD(day.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); day(x).square().mean().backward(); opt.step()
""",
    "defmodule: one object": """
class Model(nn.Module):
    def __init__(self, n, head=nn.Linear(2, 1)):
        super().__init__()
        self.body, self.head = nn.Linear(n, 2), head
    def forward(self, x): return self.head(torch.tanh(self.body(x)))
torch.manual_seed(0)
day = Model(2)
best = day
x = torch.randn(8, 2)
opt = torch.optim.SGD(day.parameters(), lr=0.1)
first = day(x).square().mean().item()
for _ in range(3):
    opt.zero_grad(); day(x).square().mean().backward(); opt.step()
""",
    "defmodule: siamese": """
class Branch(nn.Module):
    def __init__(self, n, head):
        super().__init__()
        self.body, self.head = nn.Linear(n, 2), head
    def forward(self, x): return self.head(torch.tanh(self.body(x)))
torch.manual_seed(0)
head = nn.Linear(2, 1)
left, right = Branch(2, head), Branch(3, head)
a, b = torch.randn(8, 2), torch.randn(8, 3)
opt = torch.optim.SGD([*left.parameters(), *right.body.parameters()], lr=0.1)
first = (left(a) - right(b)).square().mean().item()
for _ in range(5):
    opt.zero_grad(); (left(a) - right(b)).square().mean().backward(); opt.step()
""",
    "frames: overlap add": """
out = torch.zeros(8)
frames = out.unfold(0, 4, 2)
parts = torch.ones(3, 4)
for i in range(3):
    frames[i] += parts[i]
""",
    "frames: overlap add rows": """
def overlap_add(parts, hop):
    n, size = parts.shape
    out = torch.zeros((n - 1) * hop + size)
    for frame, part in zip(out.unfold(0, size, hop), parts):
        frame += part
    return out
out = overlap_add(torch.ones(3, 4), 2)
""",
    "frames: blocks": """
x = torch.arange(8.0)
frames = x.unfold(0, 4, 4)
for f in frames:
    f.sub_(f.mean())
energy = frames.square().sum(1)
""",
    "frames: contiguous": """
x = torch.arange(8.0)
frames = x.unfold(0, 4, 2).contiguous()
for f in frames:
    f.sub_(f.mean())
energy = frames.square().sum(1)
""",
    "defbuffer: one net of layers": """
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self, norm=nn.BatchNorm1d(3, affine=False)):
        super().__init__()
        self.layers, self.norm = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)]), norm
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x):
        x = self.norm(self.first(x))
        for layer in self.layers:
            x = layer(x)
            x = self.norm(x)
        for i in range(3):
            x = self.norm(self.layers[i](x))
        return self.norm(self.last(x))
net = Net()
for _ in range(3): net(torch.randn(8, 3))
""",
    "defbuffer: two names": """
class Running:
    def __init__(self): self.total = torch.zeros(1)
    def __call__(self, x):
        self.total += x.sum()
        return self.total
class Gauge:
    def __init__(self, name, meter=Running()):
        self.name, self.meter = name, meter
    def read(self, x): return self.meter(x).item()
def later(g): return g.read(torch.ones(2))
rain = Gauge("rain")
rain.read(torch.ones(3))
got = later(rain)
""",
    "defbuffer: own": """
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, n, norm=None):
        super().__init__()
        self.lin, self.norm = nn.Linear(n, 3), norm or nn.BatchNorm1d(3)
    def forward(self, x): return torch.relu(self.norm(self.lin(x)))
a, b = Block(2), Block(4)
for _ in range(3):
    a(torch.randn(8, 2)); b(torch.randn(8, 4) + 9)
""",
    "defbuffer: handed": """
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, n, norm=nn.BatchNorm1d(3)):
        super().__init__()
        self.lin, self.norm = nn.Linear(n, 3), norm
    def forward(self, x): return torch.relu(self.norm(self.lin(x)))
shared = nn.BatchNorm1d(3)
a, b = Block(2, shared), Block(4, norm=shared)
for _ in range(3):
    a(torch.randn(8, 2)); b(torch.randn(8, 4) + 9)
""",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[name])
    assert ran.plain is None
    assert ran.alarms == [[], []]
