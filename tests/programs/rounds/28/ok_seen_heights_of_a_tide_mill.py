import torch


class TideMill:
    """Three ponds; each step lets some water over from the pond above."""

    def __init__(self, heights):
        self.heights = heights.clone()

    def step(self, gate):
        flow = gate * self.heights[:-1]
        self.heights[:-1] -= flow
        self.heights[1:] += flow
        return self.observe()

    def observe(self):
        return self.heights[:2].clone()


first = torch.tensor([3.0, 1.0, 0.2])
mill = TideMill(first)
seen = [mill.observe()]
for t in range(12):
    seen.append(mill.step(0.1 + 0.02 * t))
seen = torch.stack(seen)
print("heights of the upper ponds", seen[-1].tolist())

a, b, expected = 3.0, 1.0, [[3.0, 1.0]]
for t in range(12):
    g = 0.1 + 0.02 * t
    a, b = a * (1 - g), b * (1 - g) + g * a
    expected.append([a, b])
SILENTLY_WRONG = not torch.allclose(seen, torch.tensor(expected), atol=1e-4)
