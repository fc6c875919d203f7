import torch


def discounted(rewards, gamma):
    returns = rewards.clone()
    backwards = torch.flip(returns, dims=[1])
    for t in range(1, backwards.shape[1]):
        backwards[:, t] += gamma * backwards[:, t - 1]
    return returns


def advantages(rewards, values, gamma):
    returns = discounted(rewards, gamma)
    gain = returns - values
    return (gain - gain.mean()) / (gain.std() + 1e-8)


torch.manual_seed(23)
rewards = torch.rand(5, 12)
values = torch.randn(5, 12) * 0.3
result = advantages(rewards, values, gamma=0.9)

steps = torch.arange(12)
lag = steps[None, :] - steps[:, None]
weight = torch.where(lag >= 0, 0.9 ** lag.clamp(min=0).float(), torch.zeros(()))
gain = rewards @ weight.T - values
expected = (gain - gain.mean()) / (gain.std() + 1e-8)
SILENTLY_WRONG = not torch.allclose(result, expected, atol=1e-4)
