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
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[name])
    assert ran.plain is None
    assert ran.alarms == [[], []], [report.to_text() for report in ran.reports]
