import torch


def rounded(price):
    return round(price * 20) / 20


class Sign:
    def __init__(self, names):
        self.names = names
        self.shown = torch.empty(len(names), dtype=torch.float64)

    def lines(self, prices):
        self.shown.copy_(prices).apply_(rounded)
        return [f"{name:<8}{price:6.2f}" for name, price in zip(self.names, self.shown.tolist())]


class Stall:
    def __init__(self, prices, sign):
        self.prices, self.sign = prices, sign

    def raise_all(self, percent):
        self.prices.map_(torch.tensor(percent, dtype=torch.float64), lambda price, part: price * (1 + part / 100))

    def month(self, percents, counts):
        printed, bills = [], torch.zeros(len(percents), dtype=torch.float64)
        for k, percent in enumerate(percents):
            self.raise_all(percent)
            printed.append(self.sign.lines(self.prices))
            bills[k] += self.prices @ counts
        return printed, bills


prices = torch.tensor([0.97, 1.31, 2.48, 0.33], dtype=torch.float64)
counts = torch.tensor([400.0, 120.0, 75.0, 900.0], dtype=torch.float64)
stall = Stall(prices, Sign(["plums", "leeks", "honey", "eggs"]))
printed, bills = stall.month([0.5, 0.7, 0.4, 0.6], counts)

factor, expected, lines = 1.0, [], []
for percent in (0.5, 0.7, 0.4, 0.6):
    factor *= 1 + percent / 100
    expected.append(factor * (0.97 * 400 + 1.31 * 120 + 2.48 * 75 + 0.33 * 900))
    lines.append([f"{round(factor * price * 20) / 20:.2f}" for price in (0.97, 1.31, 2.48, 0.33)])
near = torch.allclose(bills, torch.tensor(expected, dtype=torch.float64), atol=1e-6)
SILENTLY_WRONG = not near or [[line.split()[1] for line in rows] for rows in printed] != lines
