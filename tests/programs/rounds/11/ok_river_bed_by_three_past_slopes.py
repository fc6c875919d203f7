from collections import deque

import torch


class Bed:
    def __init__(self, cells, rate):
        self.out = torch.empty(cells, dtype=torch.float64)
        self.rate = rate

    def slope(self, height):
        self.out.copy_(torch.roll(height, 1)).add_(torch.roll(height, -1))
        return self.out.sub_(height, alpha=2).mul_(self.rate)


def simulate(bed, height, steps, dt):
    height = height.clone()
    past = deque(maxlen=3)
    shares = {1: [1.0], 2: [1.5, -0.5], 3: [23 / 12, -16 / 12, 5 / 12]}
    for _ in range(steps):
        past.appendleft(bed.slope(height).clone())
        for share, slope in zip(shares[len(past)], past):
            height.add_(slope, alpha=share * dt)
        yield height


torch.manual_seed(78)
start = torch.rand(12, dtype=torch.float64)
profiles = [height.clone() for height in simulate(Bed(12, 0.7), start, 9, 0.1)]

turn = torch.roll(torch.eye(12, dtype=torch.float64), 1, dims=0)
table = 0.7 * (turn + turn.T - 2 * torch.eye(12, dtype=torch.float64))
heights, slopes = [start], []
for k in range(9):
    slopes.append(table @ heights[-1])
    if k == 0:
        move = slopes[0]
    elif k == 1:
        move = 1.5 * slopes[1] - 0.5 * slopes[0]
    else:
        move = (23 * slopes[-1] - 16 * slopes[-2] + 5 * slopes[-3]) / 12
    heights.append(heights[-1] + 0.1 * move)
SILENTLY_WRONG = not torch.allclose(torch.stack(profiles), torch.stack(heights[1:]))
