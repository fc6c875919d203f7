import torch
from torch import nn


class Router(nn.Module):
    def __init__(self, size, experts, chosen):
        super().__init__()
        self.chosen = chosen
        self.score = nn.Linear(size, experts)

    def forward(self, x):
        best, which = self.score(x).topk(self.chosen, dim=-1)
        gates = torch.full((len(x), self.score.out_features), float("-inf"))
        return gates.scatter(1, which, best).softmax(dim=-1), which


class PollenMixture(nn.Module):
    """Each grain is described by the few experts that know its kind best."""

    def __init__(self, size, experts=5, chosen=2):
        super().__init__()
        self.router = Router(size, experts, chosen)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(size, 2 * size), nn.ReLU(), nn.Linear(2 * size, size))
            for _ in range(experts))

    def forward(self, x):
        gates, which = self.router(x)
        total = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            mask = (which == number).any(dim=-1)
            if mask.any():
                weighted = expert(x[mask]) * gates[mask, number, None]
                total.masked_scatter_(mask[:, None], weighted)
        return total


torch.manual_seed(44)
mixture = PollenMixture(size=6)
grains = torch.randn(30, 6)
described = mixture(grains)
print("mean length of a description", described.norm(dim=1).mean().item())

with torch.no_grad():
    scores = mixture.router.score(grains)
    expected = []
    for grain, row in zip(grains, scores):
        order = row.argsort(descending=True)[:2].tolist()
        weights = torch.tensor([row[i].item() for i in order]).softmax(dim=0)
        expected.append(sum(w * mixture.experts[i](grain) for w, i in zip(weights, order)))
SILENTLY_WRONG = not torch.allclose(described, torch.stack(expected), atol=1e-4)
