import numpy as np
import torch


class Orchard:
    def __init__(self, names, yields):
        self.names = names
        self.covariance = torch.cov(yields.T)

    def correlation(self):
        spread = self.covariance.diagonal().sqrt()
        return self.covariance / spread / spread[:, None]

    def closest_pair(self):
        table = self.correlation().numpy()
        np.fill_diagonal(table, 0.0)
        row, column = np.unravel_index(np.abs(table).argmax(), table.shape)
        return self.names[row], self.names[column]

    def spread_of(self, shares):
        return torch.sqrt(shares @ self.covariance @ shares)


torch.manual_seed(190)
season = torch.randn(120, 1, dtype=torch.float64)
yields = 30 + 4 * season + 2 * torch.randn(120, 4, dtype=torch.float64)
yields[:, 3] = yields[:, 1] + 0.5 * torch.randn(120, dtype=torch.float64)
shares = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64)
orchard = Orchard(["russet", "pippin", "codlin", "costard"], yields)
pair = orchard.closest_pair()
spread = orchard.spread_of(shares)

expected = (yields @ shares).std()
links = torch.corrcoef(yields.T)
best = max(((abs(links[i, j].item()), i, j) for i in range(4) for j in range(i + 1, 4)))
SILENTLY_WRONG = not torch.allclose(spread, expected) or set(pair) != {orchard.names[best[1]], orchard.names[best[2]]}
