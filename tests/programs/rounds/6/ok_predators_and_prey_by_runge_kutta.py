import torch


class RungeKutta:
    def __init__(self, field, state, step):
        self.field, self.h = field, step
        self.state = state.clone()
        self.slope, self.probe, self.total = (torch.empty_like(state) for _ in range(3))

    def advance(self):
        self.field(self.state, self.slope)
        self.total.copy_(self.slope)
        for weight, reach in ((2, 0.5), (2, 0.5), (1, 1.0)):
            torch.add(self.state, self.slope, alpha=reach * self.h, out=self.probe)
            self.field(self.probe, self.slope)
            self.total.add_(self.slope, alpha=weight)
        self.state.add_(self.total, alpha=self.h / 6)


def hunting(state, out):
    prey, hunters = state
    torch.sub(1.1 * prey, 0.4 * prey * hunters, out=out[0])
    torch.sub(0.1 * prey * hunters, 0.4 * hunters, out=out[1])


start = torch.tensor([[10.0, 6.0, 3.0], [5.0, 2.0, 4.0]], dtype=torch.float64)
solver = RungeKutta(hunting, start, 0.02)
track = [start.clone()]
for _ in range(300):
    solver.advance()
    track.append(solver.state.clone())


def rate(s):
    return torch.stack([1.1 * s[0] - 0.4 * s[0] * s[1], 0.1 * s[0] * s[1] - 0.4 * s[1]])


s, expected = start, [start]
for _ in range(300):
    k1 = rate(s)
    k2 = rate(s + 0.01 * k1)
    k3 = rate(s + 0.01 * k2)
    s = s + 0.02 / 6 * (k1 + 2 * k2 + 2 * k3 + rate(s + 0.02 * k3))
    expected.append(s)
SILENTLY_WRONG = not torch.allclose(torch.stack(track), torch.stack(expected))
