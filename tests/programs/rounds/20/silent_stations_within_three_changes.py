from collections import deque

import torch


class Network:
    def __init__(self, lines, count):
        both = torch.cat([lines, lines.flip(1)])
        order = both[:, 0].argsort(stable=True)
        self.ends = both[order, 1]
        self.start = torch.searchsorted(both[order, 0].contiguous(), torch.arange(count + 1))

    def neighbours(self, station):
        return self.ends[self.start[station]:self.start[station + 1]]


def within(network, origin, changes):
    """How many stations can be reached with at most so many changes, the origin included."""
    seen = {origin}
    queue = deque([(origin, 0)])
    while queue:
        station, depth = queue.popleft()
        if depth == changes:
            continue
        for other in network.neighbours(station):
            if other not in seen:
                seen.add(other)
                queue.append((other, depth + 1))
    return len(seen)


torch.manual_seed(8)
count = 24
ring = torch.stack([torch.arange(count), (torch.arange(count) + 1) % count], dim=1)
shortcuts = torch.tensor([[0, 9], [4, 17], [12, 21], [2, 14]])
lines = torch.cat([ring, shortcuts])
network = Network(lines, count)
reach = torch.tensor([within(network, origin, changes=3) for origin in range(count)])
print("mean reach", reach.float().mean().item())

near = torch.eye(count)
for a, b in lines.tolist():
    near[a, b] = near[b, a] = 1.0
expected = (torch.linalg.matrix_power(near, 3) > 0).sum(dim=1)
SILENTLY_WRONG = not torch.equal(reach, expected)
