import torch


class PingWindow:
    def __init__(self, beams, keep):
        self.pings = torch.full((beams, keep), float("nan"))

    def push(self, ping):
        self.pings[:, 1:] = self.pings[:, :-1].clone()
        self.pings[:, 0] = ping

    def median(self):
        return self.pings.nanmedian(dim=1).values


class Ripple:
    def __init__(self, beams):
        self.phase = torch.linspace(0, 3, beams)

    def at(self, t):
        return 20 + torch.sin(self.phase + 0.7 * t) + 0.3 * torch.cos(5.1 * self.phase * t)


ripple = Ripple(11)
window = PingWindow(11, 5)
depths = []
for t in range(14):
    window.push(ripple.at(t))
    depths.append(window.median())

expected = []
for t in range(14):
    last = torch.stack([ripple.at(u) for u in range(max(0, t - 4), t + 1)])
    expected.append(last.median(dim=0).values)
SILENTLY_WRONG = not torch.allclose(torch.stack(depths), torch.stack(expected))
