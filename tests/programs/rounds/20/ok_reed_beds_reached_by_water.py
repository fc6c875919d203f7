from collections import deque

import torch

STEPS = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


def inside(cells, shape):
    return cells[((cells >= 0) & (cells < torch.tensor(shape))).all(dim=1)]


def flood(ground, spring, level, depth):
    """Lets water run from a spring over all ground below a level; returns the number of wet cells."""
    seen = {spring}
    queue = deque([spring])
    while queue:
        cell = queue.popleft()
        depth[cell] = level - ground[cell]
        around = inside(torch.tensor(cell) + STEPS, ground.shape)
        for other in map(tuple, around.tolist()):
            if other not in seen and ground[other] < level:
                seen.add(other)
                queue.append(other)
    return len(seen)


torch.manual_seed(6)
ground = torch.nn.functional.avg_pool2d(torch.rand(1, 1, 22, 22), 3, stride=1)[0, 0]
ground[7, :15] = 1.0
ground[13, 4:] = 1.0
depth = torch.zeros_like(ground)
wet = flood(ground, spring=(0, 0), level=0.62, depth=depth)
print("wet cells", wet, "deepest", depth.max().item())

low = (ground < 0.62).float()
reach = torch.zeros_like(low)
reach[0, 0] = 1.0
for _ in range(400):
    p = torch.nn.functional.pad(reach, (1, 1, 1, 1))
    reach = low * ((p[1:-1, 1:-1] + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]) > 0)
expected = reach * (0.62 - ground)
SILENTLY_WRONG = not (wet == int(reach.sum()) and torch.allclose(depth, expected, atol=1e-6))
