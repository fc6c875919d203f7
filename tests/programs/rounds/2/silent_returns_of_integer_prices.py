import torch


def simple_returns(prices):
    returns = torch.zeros_like(prices)
    returns[:, 1:] = prices[:, 1:] / prices[:, :-1] - 1
    return returns


def sharpe_ratio(returns, periods=252):
    sample = returns[:, 1:].float()
    return sample.mean(1) / (sample.std(1) + 1e-8) * periods ** 0.5


torch.manual_seed(0)
moves = torch.randint(-40, 45, (3, 60))
prices = 10_000 + moves.cumsum(1)

ratios = sharpe_ratio(simple_returns(prices))

closes = prices.double()
growth = closes[:, 1:] / closes[:, :-1] - 1
expected = (growth.mean(1) / (growth.std(1) + 1e-8) * 252 ** 0.5).float()
SILENTLY_WRONG = not torch.allclose(ratios, expected, rtol=1e-2)
