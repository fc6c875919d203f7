import torch


class TideGauge:
    """Level and slope of the tide, filtered hour by hour and smoothed backwards."""

    def __init__(self, jitter=0.05, noise=0.3):
        self.move = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
        self.jitter = jitter * torch.eye(2)
        self.look = torch.tensor([1.0, 0.0])
        self.noise = noise

    def filter(self, readings):
        mean, cov = torch.zeros(2), torch.eye(2)
        means, covs = [], []
        for reading in readings:
            mean, cov = self.move @ mean, self.move @ cov @ self.move.T + self.jitter
            gain = cov @ self.look / (self.look @ cov @ self.look + self.noise)
            mean = mean + gain * (reading - self.look @ mean)
            cov = cov - torch.outer(gain, self.look @ cov)
            means.append(mean)
            covs.append(cov)
        return means, covs

    def smooth(self, means, covs):
        smooth = list(means)
        for k in range(len(means) - 2, -1, -1):
            ahead = self.move @ covs[k] @ self.move.T + self.jitter
            gain = covs[k] @ self.move.T @ torch.linalg.inv(ahead)
            smooth[k] += gain @ (smooth[k + 1] - self.move @ smooth[k])
        return smooth


def revisions(gauge, readings):
    """How much later readings changed each hour's level."""
    means, covs = gauge.filter(readings)
    smooth = gauge.smooth(means, covs)
    return torch.stack([(s - m)[0] for s, m in zip(smooth, means)])


torch.manual_seed(189)
hours = torch.arange(20.0)
readings = (hours / 3).sin() + 0.5 * torch.randn(20)
changed = revisions(TideGauge(), readings)

A, Q, H = torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 0.05 * torch.eye(2), torch.tensor([[1.0, 0.0]])
m, P = torch.zeros(2, 1), torch.eye(2)
forward = []
for z in readings:
    m, P = A @ m, A @ P @ A.T + Q
    S = H @ P @ H.T + 0.3
    K = P @ H.T / S
    m, P = m + K * (z - H @ m), P - K @ S @ K.T
    forward.append((m, P))
later, expected = forward[-1][0], [torch.zeros(())]
for m, P in reversed(forward[:-1]):
    ahead = A @ P @ A.T + Q
    later = m + P @ A.T @ torch.linalg.solve(ahead, later - A @ m)
    expected.append((later - m)[0, 0])
SILENTLY_WRONG = not torch.allclose(changed, torch.stack(expected[::-1]), atol=1e-3)
