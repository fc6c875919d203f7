import torch


def rounded(price):
    return round(price * 20) / 20


class Label:
    def __init__(self, names):
        self.names = names

    def lines(self, prices):
        shown = prices.apply_(rounded).tolist()
        return [f"{name:<8}{price:6.2f}" for name, price in zip(self.names, shown)]


class Till:
    def __init__(self, prices, label):
        self.prices, self.label = prices, label

    def raise_all(self, percent):
        self.prices = self.prices * (1 + percent / 100)

    def bill(self, counts):
        return self.prices @ counts

    def month(self, percents, counts):
        printed, bills = [], []
        for percent in percents:
            self.raise_all(percent)
            printed.append(self.label.lines(self.prices))
            bills.append(self.bill(counts))
        return printed, torch.stack(bills)


prices = torch.tensor([0.97, 1.31, 2.48, 0.33], dtype=torch.float64)
counts = torch.tensor([400.0, 120.0, 75.0, 900.0], dtype=torch.float64)
till = Till(prices, Label(["milk", "bread", "coffee", "salt"]))
printed, bills = till.month([0.5, 0.7, 0.4, 0.6], counts)

factor, expected = 1.0, []
for percent in (0.5, 0.7, 0.4, 0.6):
    factor *= 1 + percent / 100
    expected.append(factor * (0.97 * 400 + 1.31 * 120 + 2.48 * 75 + 0.33 * 900))
SILENTLY_WRONG = not torch.allclose(bills, torch.tensor(expected, dtype=torch.float64), atol=1e-6)
