import torch


class Backtest:
    def __init__(self, prices, cash):
        self.prices = prices
        self.cash = cash

    def run(self, orders):
        days, assets = self.prices.shape
        holdings = torch.zeros_like(self.prices)
        cash = torch.full((days,), self.cash, dtype=self.prices.dtype)
        for day in range(days):
            if day > 0:
                holdings[day] = holdings[day - 1]
                cash[day] = cash[day - 1]
            filled = orders[day]
            holdings[day] += filled
            cash[day] -= filled.to(cash.dtype) @ self.prices[day]
        return (holdings * self.prices).sum(1).add_(cash)


def drawdown(equity):
    peak = equity.cummax(0).values
    return (equity / peak).sub_(1).min()


torch.manual_seed(0)
prices = 100 + torch.randint(-3, 4, (20, 3)).cumsum(0).double()
orders = torch.randint(-2, 5, (20, 3))
equity = Backtest(prices, cash=10_000.0).run(orders)
worst = drawdown(equity)

owned = orders.cumsum(0).double()
spent = (orders.double() * prices).sum(1).cumsum(0)
expected = 10_000.0 - spent + (owned * prices).sum(1)
trough = (expected / expected.cummax(0).values - 1).min()
SILENTLY_WRONG = not (torch.allclose(equity, expected) and torch.allclose(worst, trough))
