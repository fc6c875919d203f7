from dataclasses import dataclass, field

import torch


@dataclass
class Holding:
    name: str
    values: torch.Tensor


@dataclass
class Strategy:
    title: str
    holdings: list = field(default_factory=list)

    def buy(self, name, units, prices):
        self.holdings.append(Holding(name, units * prices[name]))

    def worth(self):
        return sum(holding.values for holding in self.holdings)


class Fund:
    def __init__(self, strategies):
        self.strategies = strategies

    def weights(self):
        """Share of each name in the whole fund, day by day."""
        total = {}
        for strategy in self.strategies:
            for holding in strategy.holdings:
                if holding.name in total:
                    total[holding.name] += holding.values
                else:
                    total[holding.name] = holding.values
        whole = sum(total.values())
        return {name: values / whole for name, values in total.items()}

    def returns(self):
        worth = torch.stack([strategy.worth() for strategy in self.strategies])
        return worth[:, -1] / worth[:, 0] - 1


torch.manual_seed(23)
days = 30
prices = {name: 50 * torch.exp(0.02 * torch.randn(days).cumsum(dim=0)) for name in ("ore", "rail", "tea", "wool")}
growth, income = Strategy("growth"), Strategy("income")
growth.buy("ore", 4.0, prices)
growth.buy("rail", 2.0, prices)
income.buy("rail", 7.0, prices)
income.buy("tea", 3.0, prices)
income.buy("wool", 1.0, prices)
fund = Fund([growth, income])
weights = fund.weights()
returns = fund.returns()
print({name: round(float(w[-1]), 3) for name, w in weights.items()}, returns.tolist())

p = {name: [float(prices[name][0]), float(prices[name][-1])] for name in prices}
worth = [[4 * p["ore"][k] + 2 * p["rail"][k] for k in (0, 1)],
         [7 * p["rail"][k] + 3 * p["tea"][k] + p["wool"][k] for k in (0, 1)]]
expected = torch.tensor([end / begin - 1 for begin, end in worth])
SILENTLY_WRONG = not torch.allclose(returns, expected, atol=1e-5)
