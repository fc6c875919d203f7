import numpy as np
import torch


def closest_pair(covariance, names):
    table = covariance.numpy()
    np.fill_diagonal(table, 0.0)
    row, column = np.unravel_index(np.abs(table).argmax(), table.shape)
    return names[row], names[column]


class Book:
    def __init__(self, names, returns):
        self.names = names
        self.covariance = torch.cov(returns.T)

    def overview(self):
        first, second = closest_pair(self.covariance, self.names)
        return f"{first} moves with {second}"

    def risk(self, shares):
        return torch.sqrt(shares @ self.covariance @ shares)

    def contributions(self, shares):
        return shares * (self.covariance @ shares) / self.risk(shares)


torch.manual_seed(90)
market = torch.randn(250, 1, dtype=torch.float64)
returns = 0.01 * (0.8 * market + torch.randn(250, 5, dtype=torch.float64))
shares = torch.tensor([0.3, 0.25, 0.2, 0.15, 0.1], dtype=torch.float64)
book = Book(["wheat", "barley", "oats", "rye", "maize"], returns)
lines = [book.overview()]
risk = book.risk(shares)

expected = (returns @ shares).std()
SILENTLY_WRONG = not torch.allclose(risk, expected)
