"""Facts of one memory that were widened, each in several clothes, with the guilty line marked ``# here``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

FOUND = {
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
}


@pytest.mark.parametrize("name", FOUND)
def test_the_marked_line_is_told_of(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    code, program = FOUND[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None
    for alarms in ran.alarms:
        assert [(found, "# here" in line) for found, line in alarms] == [(code, True)], alarms
