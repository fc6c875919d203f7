import torch
from torch import nn


class Scaler(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("var", torch.ones(size))
        self.register_buffer("count", torch.tensor(1.0))

    def update(self, x):
        self.count += len(x)
        pace = len(x) / self.count
        shift = x.mean(dim=0) - self.mean
        self.mean += pace * shift
        self.var += pace * (x.var(dim=0) - self.var + shift * (x.mean(dim=0) - self.mean))

    def forward(self, x):
        return (x - self.mean) / (self.var + 1e-2).sqrt()


class Walker:
    def __init__(self, size, moves):
        self.scaler, self.policy = Scaler(size), nn.Linear(size, moves)
        self.kept = []

    def chances(self, seen):
        return torch.distributions.Categorical(logits=self.policy(self.scaler(seen)))

    @torch.no_grad()
    def act(self, seen, dice):
        chances = self.chances(seen)
        move = torch.multinomial(chances.probs, 1, generator=dice).squeeze(1)
        self.kept.append((seen, move, chances.log_prob(move)))
        self.scaler.update(seen)
        return move

    def ratios(self):
        seen, move, before = map(torch.cat, zip(*self.kept))
        return (self.chances(seen).log_prob(move) - before).exp()


torch.manual_seed(14)
dice = torch.Generator().manual_seed(14)
walker = Walker(size=4, moves=3)
seen = 2 + torch.randn(16, 4)
for _ in range(10):
    move = walker.act(seen, dice)
    seen = 0.9 * seen + 0.3 * (move[:, None] - 1) + 0.4 * torch.randn(16, 4)
with torch.no_grad():
    ratios = walker.ratios()
clipped = ((ratios - 1).abs() > 0.2).float().mean().item()
print("ratios from", ratios.min().item(), "to", ratios.max().item(), "clipped share", clipped)

SILENTLY_WRONG = not torch.allclose(ratios, torch.ones(160), atol=1e-4)
