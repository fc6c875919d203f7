import numpy as np
import torch


class Harvests:
    def __init__(self, tons, half_life):
        self.tons = tons
        age = torch.arange(len(tons) - 1, -1, -1, dtype=tons.dtype)
        weights = 0.5 ** (age / half_life)
        self.weights = weights / weights.sum()

    def covariance(self):
        centred = self.tons - self.weights @ self.tons
        return (centred * self.weights[:, None]).T @ centred


def correlation(covariance):
    variance = covariance.diagonal()
    covariance /= variance.sqrt()[:, None]
    covariance /= variance.sqrt()
    return covariance


def closest_pair(harvests, names):
    table = correlation(harvests.covariance())
    table.fill_diagonal_(-1)
    first, second = divmod(int(table.argmax()), len(names))
    return table, (names[first], names[second])


torch.manual_seed(8)
names = ["rye", "oats", "beet", "hops"]
common = torch.randn(40, 1, dtype=torch.float64)
scale = torch.tensor([0.3, 8.0, 40.0, 1.5], dtype=torch.float64)
tons = scale * (common + torch.randn(40, 4, dtype=torch.float64))
table, pair = closest_pair(Harvests(tons, half_life=12), names)

weights = 0.5 ** (np.arange(39, -1, -1) / 12)
wide = np.cov(tons.numpy().T, aweights=weights)
deviation = np.sqrt(np.diag(wide))
expected = torch.tensor(wide / np.outer(deviation, deviation) - 2 * np.eye(4))
SILENTLY_WRONG = not torch.allclose(table, expected)
