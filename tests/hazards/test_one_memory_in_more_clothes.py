"""Facts of one memory that were widened, each in several clothes, with the guilty line marked ``# here``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

FOUND = {
    "kept twice: blocks": (
        "one-tensor-many-slots",
        """
class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Conv1d(1, 2, 1), nn.Hardtanh(inplace=True), nn.Conv1d(2, 1, 1)])
    def forward(self, x):
        seen = []
        for part in self.parts:
            x = part(x)  # here
            seen.append(x)
        return seen
torch.manual_seed(0)
with torch.no_grad(): maps = Stage()(torch.randn(1, 1, 9) * 9)
width = maps[0].std()
""",
    ),
    "kept twice: pipeline list": (
        "one-tensor-many-slots",
        """
def clean(v): return v.clamp_(0, 1)  # here
def spread(v): return v * 2
def pipeline(x, steps):
    out = [x]
    for step in steps:
        x = step(x)
        out.append(x)
    return out
stages = pipeline(torch.tensor([0.2, 0.9]), [spread, clean])
cut = stages[1].max()
""",
    ),
    "kept twice: sequential": (
        "one-tensor-many-slots",
        """
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.LeakyReLU(0.1, inplace=True), nn.Linear(3, 2), nn.ReLU(inplace=True))
acts = []
x = torch.randn(6, 2)
with torch.no_grad():
    for m in net:
        x = m(x)  # here
        acts.append(x)
low = acts[2].min()
""",
    ),
    "measured: pendulum": (
        "same-memory-compared",
        """
def energy(q):
    return (q * q).sum()
class Chain:
    def __init__(self, n):
        self.q = torch.linspace(0, 1, n)
        self.start = self.q.view(-1)
    def run(self, k):
        for _ in range(k):
            self.q.mul_(0.9)  # here
    def loss(self):
        return energy(self.start) - energy(self.q)
c = Chain(4); c.run(3)
lost = c.loss()
""",
    ),
    "measured: size of update": (
        "same-memory-compared",
        """
torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
old = {k: v for k, v in net.state_dict().items()}
net(torch.ones(2, 3)).square().sum().backward()
opt.step()  # here
new = net.state_dict()
grown = {}
for k in old:
    grown[k] = new[k].norm() / old[k].norm()
""",
    ),
    "measured: column means": (
        "same-memory-compared",
        """
torch.manual_seed(0)
table = torch.randn(6, 3) + 4
flat = table.reshape(6, 3)
flat -= flat.mean(0)  # here
shift = table.mean(0) - flat.mean(0)
""",
    ),
    "measured: policies": (
        "same-memory-compared",
        """
class Agent:
    def __init__(self): self.loc, self.scale = torch.zeros(2), torch.ones(2)
    def policy(self): return torch.distributions.Normal(self.loc, self.scale)
    def improve(self, d): self.loc += d  # here
a = Agent()
prior = a.policy()
a.improve(torch.tensor([1.0, 2.0]))
step = torch.distributions.kl_divergence(a.policy(), prior).sum()
""",
    ),
    "measured: padded row": (
        "same-memory-compared",
        """
row = torch.ones(3)
table = row[None]
row.add_(torch.tensor([0.0, 1.0, 2.0]))  # here
change = (table - row).abs().max()
""",
    ),
    "measured: items": (
        "same-memory-compared",
        """
w = torch.ones(3)
before = w.detach()
w.mul_(3)  # here
grown = w.norm().item() / before.norm().item()
""",
    ),
    "measured: items of function": (
        "same-memory-compared",
        """
def size(t): return t.abs().sum().item()
class Walk:
    def __init__(self): self.x = torch.ones(2); self.x0 = self.x[:]
    def move(self, d): self.x += d  # here
    def gone(self): return size(self.x) - size(self.x0)
k = Walk(); k.move(2.0)
far = k.gone()
""",
    ),
    "exchanged: state dicts": (
        "swapped-through-views",
        """
torch.manual_seed(0)
a, b = nn.Linear(2, 2), nn.Linear(2, 2)
wa = a.weight.detach().clone()
kept = a.state_dict()
a.load_state_dict(b.state_dict())  # here
b.load_state_dict(kept)
""",
    ),
    "exchanged: replicas": (
        "swapped-through-views",
        """
class Tempering:
    def __init__(self, n): self.chains = [torch.full((3,), float(i)) for i in range(n)]
    def exchange(self, i, j):
        old = self.chains[i].detach()
        self.chains[i].copy_(self.chains[j])  # here
        self.chains[j].copy_(old)
t = Tempering(3)
t.exchange(0, 2)
""",
    ),
    "exchanged: ema for eval": (
        "swapped-through-views",
        """
torch.manual_seed(0)
net = nn.Linear(2, 1)
ema = {k: torch.zeros_like(v) for k, v in net.state_dict().items()}
w = net.weight.detach().clone()
with torch.no_grad():
    for k, p in net.named_parameters():
        tmp = p.data
        p.data.copy_(ema[k])  # here
        ema[k].copy_(tmp)
y = net(torch.ones(1, 2))
with torch.no_grad():
    for k, p in net.named_parameters():
        p.copy_(ema[k])
""",
    ),
    "rows: shares": (
        "first-becomes-total",
        """
rows = torch.arange(1.0, 7.0).view(3, 2)
total = rows[0]
for r in rows[1:]:
    total += r  # here
share = rows / total
""",
    ),
    "rows: best of runs": (
        "first-becomes-total",
        """
class Runs:
    def __init__(self, t): self.t = t
    def best(self):
        top = self.t[0]
        for t in self.t[1:]:
            torch.maximum(top, t, out=top)  # here
        return top
    def regret(self): return (self.best() - self.t).mean(1)
r = Runs(torch.tensor([[1.0, 5], [3, 2], [0, 9]]))
g = r.regret()
""",
    ),
    "rows: iterator": (
        "first-becomes-total",
        """
x = torch.tensor([[1.0, 2], [3, 4], [5, 9]])
def mean_of(rows):
    it = iter(rows)
    acc = next(it)
    for row in it:
        acc.add_(row)  # here
    return acc / len(rows)
m = mean_of(x)
dev = (x - m).abs()
""",
    ),
    "bytes: motion": (
        "values-cut-off",
        """
prev = torch.tensor([[10, 200], [30, 40]], dtype=torch.uint8)
cur = torch.tensor([[12, 190], [30, 45]], dtype=torch.uint8)
moved = cur.clone()
moved.sub_(prev)  # here
big = (moved > 20).sum()
""",
    ),
    "bytes: dark frame": (
        "values-cut-off",
        """
def calibrate(frames, dark):
    for f in frames:
        f -= dark  # here
    return frames
dark = torch.tensor([4, 4], dtype=torch.uint8)
fr = calibrate([dark + 1, torch.tensor([8, 3], dtype=torch.uint8)], dark)
""",
    ),
    "bytes: brighter": (
        "values-cut-off",
        """
class Img:
    def __init__(self, px): self.px = px
    def brighten(self, k):
        self.px *= k  # here
        return self
i = Img(torch.tensor([60, 100, 140], dtype=torch.uint8)).brighten(2)
""",
    ),
    "bytes: weights": (
        "values-cut-off",
        """
pix = torch.tensor([[16, 9], [20, 3]], dtype=torch.uint8)
gain = torch.tensor([[20, 1], [2, 1]], dtype=torch.uint8)
pix.mul_(gain)  # here
""",
    ),
    "an array: scaled": (
        "saved-values-changed",
        """
x = torch.rand(4, requires_grad=True)
y = torch.exp(x)
want = y.detach().clone()
y.detach().numpy()[1:] *= 2  # here
y.sum().backward()
""",
    ),
    "an array: in method": (
        "saved-values-changed",
        """
class Net:
    def __init__(self): self.w = torch.rand(3, requires_grad=True)
    def cut(self, h):
        h.detach().numpy().flat[0] = 9  # here
    def run(self):
        h = self.w.tanh()
        want = (1 - h ** 2).detach().clone()
        self.cut(h)
        h.sum().backward()
        return torch.allclose(self.w.grad, want)
ok = Net().run()
""",
    ),
    "two results: augment": (
        "results-share-memory",
        """
def flip_(img): return img.copy_(img.flip(0))
def blur_(img): return img.mul_(0.5)
def two_views(img):
    first = flip_(img)
    second = blur_(img)  # here
    return first, second
torch.manual_seed(0)
a, b = two_views(torch.rand(4))
sim = torch.cosine_similarity(a, b, dim=0)
""",
    ),
    "two results: filters": (
        "results-share-memory",
        """
class Bank:
    def __init__(self): self.out = torch.zeros(3)
    def apply(self, x, k): return torch.mul(x, k, out=self.out)
    def pair(self, x):
        low = self.apply(x, 0.1)
        high = self.apply(x, 10.0)  # here
        return low, high
lo, hi = Bank().pair(torch.ones(3))
r = hi / lo
""",
    ),
    "two results: dropout list": (
        "results-share-memory",
        """
import torch, torch.nn.functional as F
def samples(x):
    s = F.dropout(x, 0.5, True, inplace=True)
    t = F.dropout(x, 0.5, True, inplace=True)  # here
    return [s, t]
torch.manual_seed(0)
both = samples(torch.ones(40))
spread = torch.stack(both).std(0).sum()
""",
    ),
    "networks: fedavg": (
        "first-becomes-total",
        """
torch.manual_seed(0)
nets = [nn.Linear(2, 1) for _ in range(3)]
x = torch.randn(5, 2)
y0 = nets[0](x).detach()
w = [n.state_dict() for n in nets]
avg = w[0]
for k in avg:
    for i in range(1, len(w)):
        avg[k] += w[i][k]  # here
    avg[k] = avg[k] / len(w)
server = nn.Linear(2, 1); server.load_state_dict(avg)
losses = [n(x).square().mean().item() for n in nets]
""",
    ),
    "networks: method": (
        "first-becomes-total",
        """
class Server:
    def __init__(self, clients): self.clients = clients
    def merge(self):
        total = self.clients[0].state_dict()
        for c in self.clients[1:]:
            for name, value in c.state_dict().items():
                total[name].add_(value)  # here
        return {name: value / len(self.clients) for name, value in total.items()}
def score(net, x):
    with torch.no_grad(): return net(x).abs().mean().item()
torch.manual_seed(0)
nets = [nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1)) for _ in range(3)]
x = torch.randn(5, 2)
before = score(nets[0], x)
s = Server(nets); g = s.merge()
after = [score(n, x) for n in nets]
""",
    ),
    "networks: data lists": (
        "first-becomes-total",
        """
torch.manual_seed(0)
folds = [nn.Linear(3, 1) for _ in range(4)]
start = folds[0].weight.detach().clone()
sums = [p.data for p in folds[0].parameters()]
for m in folds[1:]:
    for s, p in zip(sums, m.parameters()):
        s += p.data  # here
mean = nn.Linear(3, 1)
for p, s in zip(mean.parameters(), sums): p.data.copy_(s / 4)
x = torch.randn(6, 3)
outs = torch.stack([m(x) for m in folds])
""",
    ),
    "networks: soup": (
        "first-becomes-total",
        """
def soup(models):
    flat = {k: v.detach() for k, v in models[0].named_parameters()}
    with torch.no_grad():
        for m in models[1:]:
            for k, v in m.named_parameters():
                flat[k].add_(v)  # here
    return {k: v.div(len(models)) for k, v in flat.items()}
torch.manual_seed(0)
ms = [nn.Linear(2, 2) for _ in range(3)]
w0 = ms[0].weight.detach().clone()
cooked = soup(ms)
x = torch.ones(1, 2)
votes = torch.stack([m(x).argmax() for m in ms])
""",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_the_marked_line_is_told_of(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    code, program = FOUND[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None
    for alarms in ran.alarms:
        assert [(found, "# here" in line) for found, line in alarms] == [(code, True)], alarms
