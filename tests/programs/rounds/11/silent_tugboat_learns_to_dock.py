import torch


class Rollout:
    def __init__(self, rewards, values, last, gamma=0.95, lam=0.9):
        self.values = values
        self.gains = torch.zeros_like(rewards)
        follow, carried = last, 0.0
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + gamma * follow - values[t]
            carried = delta + gamma * lam * carried
            self.gains[t] = carried
            follow = values[t]

    def policy_weights(self):
        gains = self.gains
        gains -= gains.mean()
        gains /= gains.std() + 1e-8
        return gains

    def value_targets(self):
        return self.gains + self.values


def losses(rollout, ratio, guesses):
    weights = rollout.policy_weights()
    clipped = torch.minimum(ratio * weights, ratio.clamp(0.8, 1.2) * weights)
    return -clipped.mean(), (guesses - rollout.value_targets()).square().mean()


torch.manual_seed(14)
rewards, values = torch.rand(25) * 3, torch.randn(25)
ratio, guesses = 1 + 0.2 * torch.randn(25), torch.randn(25)
policy, value = losses(Rollout(rewards, values, torch.tensor(0.5)), ratio, guesses)

chain = torch.cat([values[1:], torch.tensor([0.5])])
delta = rewards + 0.95 * chain - values
plain = torch.stack([sum((0.95 * 0.9) ** (k - t) * delta[k] for k in range(t, 25)) for t in range(25)])
expected = (guesses - (plain + values)).square().mean()
SILENTLY_WRONG = not torch.allclose(value, expected, atol=1e-4)
