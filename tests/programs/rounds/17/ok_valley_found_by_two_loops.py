from collections import deque

import torch


class Valley:
    def __init__(self, curve, bottom):
        self.curve, self.bottom = curve, bottom

    def slope(self, x):
        return self.curve @ (x - self.bottom)


class LimitedMemory:
    def __init__(self, memory):
        self.steps, self.changes = deque(maxlen=memory), deque(maxlen=memory)

    def remember(self, step, change):
        if step @ change > 1e-10:
            self.steps.append(step)
            self.changes.append(change)

    def direction(self, slope):
        remainder, shares = slope.clone(), []
        for s, y in zip(reversed(self.steps), reversed(self.changes)):
            share = s @ remainder / (s @ y)
            remainder.sub_(share * y)
            shares.append(share)
        direction = remainder
        if self.steps:
            s, y = self.steps[-1], self.changes[-1]
            direction.mul_(s @ y / (y @ y))
        for s, y, share in zip(self.steps, self.changes, reversed(shares)):
            direction.add_((share - y @ direction / (s @ y)) * s)
        return direction.neg_()


def descend(valley, x, memory, rounds):
    pairs, slope = LimitedMemory(memory), valley.slope(x)
    for _ in range(rounds):
        move = pairs.direction(slope)
        length = -(slope @ move) / (move @ valley.curve @ move).clamp(min=1e-300)
        before, last = x.clone(), slope
        x.add_(length * move)
        slope = valley.slope(x)
        pairs.remember(x - before, slope - last)
        if slope.norm() < 1e-9:
            break
    return x


torch.manual_seed(88)
root = torch.randn(6, 6, dtype=torch.float64)
valley = Valley(root @ root.T + 0.5 * torch.eye(6, dtype=torch.float64), torch.randn(6, dtype=torch.float64))
found = descend(valley, torch.zeros(6, dtype=torch.float64), memory=6, rounds=12)

SILENTLY_WRONG = not torch.allclose(found, valley.bottom, atol=1e-5)
