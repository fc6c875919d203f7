import torch


class RiverGauge:
    """A level that wanders, filtered day by day and smoothed backwards."""

    def __init__(self, jitter=0.2, noise=0.5):
        self.jitter, self.noise = jitter, noise

    def filter(self, readings):
        mean, spread = torch.zeros(()), torch.ones(())
        means, spreads = [], []
        for reading in readings:
            spread = spread + self.jitter
            gain = spread / (spread + self.noise)
            mean = mean + gain * (reading - mean)
            spread = (1 - gain) * spread
            means.append(mean)
            spreads.append(spread)
        return means, spreads

    def smooth(self, means, spreads):
        smooth = [mean.clone() for mean in means]
        for k in range(len(means) - 2, -1, -1):
            gain = spreads[k] / (spreads[k] + self.jitter)
            smooth[k] += gain * (smooth[k + 1] - smooth[k])
        return smooth


def revisions(gauge, readings):
    means, spreads = gauge.filter(readings)
    smooth = torch.stack(gauge.smooth(means, spreads))
    return smooth.sub_(torch.stack(means))


torch.manual_seed(289)
readings = torch.randn(25).cumsum(0) * 0.4 + 0.5 * torch.randn(25)
changed = revisions(RiverGauge(), readings)

n = len(readings)
prior = torch.linalg.inv(torch.minimum(torch.arange(n)[:, None], torch.arange(n)) * 0.2 + 1.2)
full = torch.linalg.solve(prior + torch.eye(n) / 0.5, readings / 0.5)
part = []
for k in range(1, n + 1):
    seen = torch.linalg.inv(torch.minimum(torch.arange(k)[:, None], torch.arange(k)) * 0.2 + 1.2)
    part.append(torch.linalg.solve(seen + torch.eye(k) / 0.5, readings[:k] / 0.5)[-1])
SILENTLY_WRONG = not torch.allclose(changed, full - torch.stack(part), atol=1e-3)
