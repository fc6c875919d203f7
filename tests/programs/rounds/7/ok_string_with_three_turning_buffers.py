import math

import torch


class PluckedString:
    def __init__(self, points, courant, dtype=torch.float64):
        self.courant = courant ** 2
        x = torch.linspace(0, 1, points, dtype=dtype)
        self.now = torch.sin(math.pi * x) + 0.3 * torch.sin(3 * math.pi * x)
        self.before = self.now.clone()
        self.after = torch.empty_like(self.now)
        curve = self.now[2:] - 2 * self.now[1:-1] + self.now[:-2]
        self.before[1:-1] += 0.5 * self.courant * curve
        self.before[0] = self.before[-1] = 0.0

    def step(self):
        now, before, after = self.now, self.before, self.after
        torch.sub(now[2:] + now[:-2], now[1:-1], alpha=2, out=after[1:-1])
        after[1:-1].mul_(self.courant).add_(now[1:-1], alpha=2).sub_(before[1:-1])
        after[0] = after[-1] = 0.0
        self.before, self.now, self.after = now, after, before


string = PluckedString(points=41, courant=0.9)
middle = []
for _ in range(100):
    string.step()
    middle.append(string.now[20].clone())
middle = torch.stack(middle)

steps = torch.arange(1, 101, dtype=torch.float64)
expected = torch.zeros(100, dtype=torch.float64)
for mode, height in ((1, 1.0), (3, 0.3)):
    turn = 2 * math.asin(0.9 * math.sin(mode * math.pi / 80))
    expected += height * math.sin(mode * math.pi / 2) * torch.cos(turn * steps)
SILENTLY_WRONG = not torch.allclose(middle, expected, atol=1e-6)
