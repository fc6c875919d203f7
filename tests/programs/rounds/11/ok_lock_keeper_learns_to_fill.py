import torch


class Rollout:
    def __init__(self, rewards, values, last, gamma=0.95, lam=0.9):
        self.gains = torch.zeros_like(rewards)
        follow, carried = last, 0.0
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + gamma * follow - values[t]
            carried = delta + gamma * lam * carried
            self.gains[t] = carried
            follow = values[t]
        self.targets = self.gains + values

    def portions(self, size):
        gains = self.gains
        gains -= gains.mean()
        gains /= gains.std() + 1e-8
        for i in range(0, len(gains), size):
            yield gains[i:i + size], self.targets[i:i + size]


def losses(rollout, ratio, guesses, size):
    policy, value = 0.0, 0.0
    for i, (weights, targets) in enumerate(rollout.portions(size)):
        own = slice(i * size, i * size + size)
        policy = policy - torch.minimum(ratio[own] * weights, ratio[own].clamp(0.8, 1.2) * weights).sum()
        value = value + (guesses[own] - targets).square().sum()
    return policy / len(ratio), value / len(ratio)


torch.manual_seed(140)
rewards, values = torch.rand(24) * 3, torch.randn(24)
ratio, guesses = 1 + 0.2 * torch.randn(24), torch.randn(24)
policy, value = losses(Rollout(rewards, values, torch.tensor(0.5)), ratio, guesses, 6)

delta = rewards + 0.95 * torch.cat([values[1:], torch.tensor([0.5])]) - values
plain = torch.stack([sum((0.95 * 0.9) ** (k - t) * delta[k] for k in range(t, 24)) for t in range(24)])
even = (plain - plain.mean()) / plain.std()
right = -torch.minimum(ratio * even, ratio.clamp(0.8, 1.2) * even).mean()
near = torch.allclose(value, (guesses - plain - values).square().mean(), atol=1e-4)
SILENTLY_WRONG = not (near and torch.allclose(policy, right, atol=1e-4))
