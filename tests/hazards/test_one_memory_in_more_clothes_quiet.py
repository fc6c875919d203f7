"""Healthy look-alikes of what is told in ``test_one_memory_in_more_clothes.py``: one fact decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

HEALTHY = {
    "kept twice: not in place": """
class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Conv1d(1, 2, 1), nn.Hardtanh(), nn.Conv1d(2, 1, 1)])
    def forward(self, x):
        seen = []
        for part in self.parts:
            x = part(x)
            seen.append(x)
        return seen
torch.manual_seed(0)
with torch.no_grad(): maps = Stage()(torch.randn(1, 1, 9) * 9)
width = maps[0].std()
""",
    "kept twice: identity": """
class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Conv1d(1, 2, 1), nn.Identity(), nn.Conv1d(2, 1, 1)])
    def forward(self, x):
        seen = []
        for part in self.parts:
            x = part(x)
            seen.append(x)
        return seen
torch.manual_seed(0)
with torch.no_grad(): maps = Stage()(torch.randn(1, 1, 9) * 9)
width = maps[0].std() + maps[1].std()
""",
    "kept twice: blocks of two": """
class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        two = nn.Sequential(nn.Linear(3, 3), nn.Hardtanh(inplace=True))
        self.parts = nn.ModuleList([two, nn.Dropout(0.5), nn.Linear(3, 1)])
    def forward(self, x):
        seen = []
        for part in self.parts:
            x = part(x)
            seen.append(x)
        return seen
torch.manual_seed(0)
net = Stage().eval()
with torch.no_grad(): maps = net(torch.randn(4, 3))
width = maps[0].std() + maps[1].std()
""",
    "kept twice: user blocks": """
class Block(nn.Module):
    def __init__(self):
        super().__init__(); self.l = nn.Linear(3, 3)
    def forward(self, x):
        y = self.l(x)
        return y.relu_()
class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Block(), nn.Identity(), nn.Dropout(0.5)])
    def forward(self, x):
        seen = []
        for part in self.parts:
            x = part(x)
            seen.append(x)
        return seen
torch.manual_seed(0)
net = Stage().eval()
with torch.no_grad(): maps = net(torch.randn(4, 3))
width = maps[0].std() + maps[1].std()
""",
    "kept twice: style layers": """
torch.manual_seed(0)
vgg = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(inplace=True), nn.Conv2d(2, 2, 3), nn.ReLU(inplace=True)).eval()
def features(x):
    kept = []
    for layer in vgg:
        x = layer(x)
        kept.append(x)
    return kept
with torch.no_grad():
    got = features(torch.rand(1, 1, 8, 8))
    style = got[1].mean() + got[3].mean()
""",
    "measured: clone": """
torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
old = {k: v.clone() for k, v in net.state_dict().items()}
net(torch.ones(2, 3)).square().sum().backward()
opt.step()
new = net.state_dict()
grown = {}
for k in old:
    grown[k] = new[k].norm() / old[k].norm()
""",
    "measured: before and after": """
def energy(q): return (q * q).sum()
q = torch.linspace(0, 1, 4)
same = q.view(-1)
e0 = energy(same)
q.mul_(0.9)
e1 = energy(q)
lost = e0 - e1
""",
    "measured: all pairs": """
torch.manual_seed(0)
x = torch.randn(3, 4)
rows = list(x)
x.mul_(2)
ratio = torch.zeros(3, 3)
for i in range(3):
    for j in range(3):
        ratio[i, j] = rows[i].norm() / rows[j].norm()
""",
    "measured: pairwise": """
x = torch.arange(4.0)
col = x[:, None]
x.mul_(2)
d = (col - x).abs()
e = (x[None] - x[:, None]).abs()
""",
    "measured: two norms": """
x = torch.arange(1.0, 5.0)
y = x.view(2, 2)
x.mul_(2)
one, two = 1, 2
r = x.norm(one) / x.norm(two)
s = x.norm(1) / y.norm(2)
t = y.sum(0) - y.sum(1)
u = x.max() - y.min()
""",
    "measured: tied": """
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.out = nn.Embedding(4, 3), nn.Linear(3, 4, bias=False)
        self.out.weight = self.emb.weight
    def forward(self, i): return self.out(self.emb(i))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad(); net(torch.tensor([1])).square().sum().backward(); opt.step()
    with torch.no_grad(): r = net.emb.weight.norm() / net.out.weight.norm()
""",
    "measured: two policies": """
class Agent:
    def __init__(self): self.loc, self.scale = torch.zeros(2), torch.ones(2)
    def policy(self): return torch.distributions.Normal(self.loc.clone(), self.scale)
    def improve(self, d): self.loc += d
a = Agent()
prior = a.policy()
a.improve(torch.tensor([1.0, 2.0]))
step = torch.distributions.kl_divergence(a.policy(), prior).sum()
""",
    "measured: items cloned": """
w = torch.ones(3)
before = w.detach().clone()
w.mul_(3)
grown = w.norm().item() / before.norm().item()
""",
    "measured: items of parts": """
def size(t): return t.abs().sum().item()
x = torch.arange(4.0)
a, b = x[:2], x[2:]
x *= 2
g = size(a) - size(b)
h = [size(p) / size(q) for p in (a, b) for q in (a, b)]
i = x.max().item() - x.min().item()
""",
    "exchanged: clone": """
torch.manual_seed(0)
a, b = nn.Linear(2, 2), nn.Linear(2, 2)
wa = a.weight.detach().clone()
kept = {k: v.clone() for k, v in a.state_dict().items()}
a.load_state_dict(b.state_dict())
b.load_state_dict(kept)
""",
    "exchanged: backup unchanged": """
torch.manual_seed(0)
net = nn.Linear(2, 1)
best = {k: torch.zeros_like(v) for k, v in net.state_dict().items()}
least = 1e9
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(6, 2)
for _ in range(4):
    opt.zero_grad(); loss = net(x).square().mean(); loss.backward(); opt.step()
    now = net(x).square().mean().item()
    if now < least:
        least = now
        for k, v in net.state_dict().items(): best[k].copy_(v)
net.load_state_dict(best)
""",
    "exchanged: flat view": """
torch.manual_seed(0)
net, copy_ = nn.Linear(2, 2), nn.Linear(2, 2)
shown = copy_.weight.data
norm0 = shown.norm().item()
with torch.no_grad():
    copy_.weight.copy_(net.weight)
    net.weight.copy_(shown)
""",
    "exchanged: params views": """
p, q = torch.zeros(2, 2), torch.ones(2, 2)
hold = p.view(-1)
p.copy_(q)
q.mul_(3)
q.view(-1).copy_(hold)
""",
    "rows: clone": """
rows = torch.arange(1.0, 7.0).view(3, 2)
total = rows[0].clone()
for r in rows[1:]:
    total += r
share = rows / total
""",
    "rows: scratch": """
parts = torch.arange(1.0, 7.0).view(3, 2)
total = parts[0]
for p in parts[1:]:
    total += p
mean = total / 3
n = len(parts)
""",
    "rows: rest read": """
parts = torch.arange(1.0, 7.0).view(3, 2)
total = parts[0]
for p in parts[1:]:
    total += p
share = parts[1:] / total
""",
    "rows: pooled row": """
tokens = torch.arange(1.0, 9.0).view(4, 2)
cls = tokens[0]
for t in tokens[1:]:
    cls.add_(t, alpha=0.5)
out = torch.nn.functional.layer_norm(tokens, (2,))
""",
    "rows: other rows": """
acc = torch.arange(6.0).view(3, 2)
parts = [torch.ones(2), torch.full((2,), 2.0), torch.full((2,), 3.0)]
s = acc[0]
for p in parts:
    s += p
rel = acc - s
""",
    "bytes: no wrap": """
prev = torch.tensor([[10, 20], [30, 40]], dtype=torch.uint8)
cur = torch.tensor([[12, 190], [30, 45]], dtype=torch.uint8)
moved = cur.clone()
moved.sub_(prev)
moved *= 1
""",
    "bytes: wide": """
prev = torch.tensor([[10, 200], [30, 40]], dtype=torch.uint8)
cur = torch.tensor([[12, 190], [30, 45]], dtype=torch.uint8)
moved = cur.short()
moved.sub_(prev)
moved *= 3
""",
    "bytes: mask off": """
mask = torch.tensor([1, 1, 0, 1], dtype=torch.uint8)
seen = torch.tensor([0, 1, 0, 1], dtype=torch.uint8)
mask -= seen
mask *= 255
""",
    "bytes: saturating": """
img = torch.tensor([250, 10], dtype=torch.uint8)
wide = img.int()
wide *= 2
img.copy_(wide.clamp_(0, 255))
""",
    "an array: copy": """
x = torch.rand(4, requires_grad=True)
y = torch.exp(x)
want = y.detach().clone()
y.detach().numpy().copy()[1:] *= 2
y.sum().backward()
""",
    "an array: other": """
x = torch.rand(4, requires_grad=True)
z = torch.zeros(4)
y = torch.exp(x)
want = y.detach().clone()
z.numpy()[:] = y.detach().numpy()
(y.sum() + z.sum()).backward()
""",
    "two results: new": """
import torch, torch.nn.functional as F
def samples(x):
    s = F.dropout(x, 0.5, True)
    t = F.dropout(x, 0.5, True)
    return [s, t]
torch.manual_seed(0)
both = samples(torch.ones(40))
spread = torch.stack(both).std(0).sum()
""",
    "two results: chain": """
def scale_(x): return x.mul_(2)
def shift_(x): return x.add_(1)
def run(x):
    y = scale_(x)
    z = shift_(y)
    return z, len(z)
z, n = run(torch.ones(3))
t = z.sum()
""",
    "two results: two buffers": """
class Bank:
    def __init__(self): self.outs = [torch.zeros(3), torch.zeros(3)]
    def apply(self, x, k, i): return torch.mul(x, k, out=self.outs[i])
    def pair(self, x):
        low = self.apply(x, 0.1, 0)
        high = self.apply(x, 10.0, 1)
        return low, high
lo, hi = Bank().pair(torch.ones(3))
r = hi / lo
""",
    "two results: not written again": """
def same(x): return x
def prepare(x):
    x.mul_(2)
    a = same(x)
    b = same(x)
    return a, b
a, b = prepare(torch.ones(3))
d = a.sum() + b.sum()
""",
    "networks: copies": """
import copy, torch
torch.manual_seed(0)
nets = [nn.Linear(2, 1) for _ in range(3)]
x = torch.randn(5, 2)
y0 = nets[0](x).detach()
w = [copy.deepcopy(n.state_dict()) for n in nets]
avg = w[0]
for k in avg:
    for i in range(1, len(w)):
        avg[k] += w[i][k]
    avg[k] = avg[k] / len(w)
losses = [n(x).square().mean().item() for n in nets]
""",
    "networks: averaged in place": """
torch.manual_seed(0)
nets = [nn.Linear(2, 1) for _ in range(3)]
x = torch.randn(5, 2)
avg = nets[0].state_dict()
for n in nets[1:]:
    for k, v in n.state_dict().items(): avg[k] += v
for k in avg: avg[k] /= 3
losses = [n(x).square().mean().item() for n in nets]
""",
    "networks: all reloaded": """
torch.manual_seed(0)
nets = [nn.Linear(2, 1) for _ in range(3)]
x = torch.randn(5, 2)
for rnd in range(2):
    avg = nets[0].state_dict()
    for n in nets[1:]:
        for k, v in n.state_dict().items(): avg[k] += v
    new = {k: v / 3 for k, v in avg.items()}
    for n in nets: n.load_state_dict(new)
    losses = [n(x).square().mean().item() for n in nets]
""",
    "networks: merged adapters": """
torch.manual_seed(0)
base, adds = nn.Linear(2, 2, bias=False), [nn.Linear(2, 2, bias=False) for _ in range(3)]
x = torch.randn(3, 2)
want = (base(x) + sum(a(x) for a in adds)).detach()
sd = base.state_dict()
for a in adds: sd["weight"] += a.weight.detach()
got = base(x)
""",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[name])
    assert ran.plain is None
    assert ran.alarms == [[], []], [report.to_text() for report in ran.reports]
