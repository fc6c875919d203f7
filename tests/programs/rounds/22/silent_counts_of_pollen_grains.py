import torch
from torch import nn


class LogFeatures(nn.Module):
    """Absolute logarithms of the counts; empty traps are squashed to a finite value."""

    def forward(self, counts):
        features = counts.log().abs()
        mask = features.isinf()
        features[mask].sigmoid_()
        return features, mask


class PollenScore(nn.Module):
    def __init__(self, species, ceiling=6.0):
        super().__init__()
        self.log = LogFeatures()
        self.ceiling = ceiling
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, species), requires_grad=False)

    def forward(self, counts):
        features, empty = self.log(counts)
        features = features.clamp(max=self.ceiling)
        return features @ self.weight, empty.sum(dim=1)


def weekly_table(days, traps, species, seed):
    torch.manual_seed(seed)
    counts = torch.poisson(torch.full((days, traps, species), 2.5))
    return counts, counts.mean(dim=1).round()


counts, daily = weekly_table(days=7, traps=3, species=8, seed=40)
daily[2, 3] = 0.0
daily[5, 6] = 0.0
daily[6, 0] = 0.0
score, empty = PollenScore(species=8)(daily)
print("scores", score.tolist(), "empty traps", empty.tolist())

expected = torch.zeros(7)
for day in range(7):
    for k in range(8):
        n = daily[day, k].item()
        part = abs(torch.tensor(n).log().item()) if n > 0 else 1.0
        expected[day] += (0.5 + k / 7) * min(part, 6.0)
SILENTLY_WRONG = not torch.allclose(score, expected, atol=1e-4)
