import torch
import torch.nn as nn


class Oven(nn.Module):
    """Stone and air of an oven, each cooling at a rate of its own."""

    def __init__(self, start):
        super().__init__()
        self.start = torch.as_tensor(start, dtype=torch.float64)
        self.stone = nn.Parameter(torch.tensor(-2.0, dtype=torch.float64))
        self.air = nn.Parameter(torch.tensor(0.5, dtype=torch.float64))

    def forward(self, hours):
        rates = torch.stack([self.stone, self.air]).exp()
        return 20 + (self.start * torch.exp(-rates * hours[:, None])).sum(dim=1)

    def log_prior(self):
        return -(self.stone + 1.5).square() - (self.air - 0.2).square()


def fit(model, hours, heat, rounds, pace):
    for _ in range(rounds):
        model.zero_grad()
        loss = (model(hours) - heat).square().mean() / 100 - 0.1 * model.log_prior()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= pace * p.grad
    return [p.item() for p in model.parameters()]


def warmth(stone, air, hours):
    decay = [torch.exp(-torch.tensor(z, dtype=torch.float64).exp() * hours) for z in (stone, air)]
    return 20 + 150 * decay[0] + 80 * decay[1]


torch.manual_seed(5)
hours = torch.linspace(0, 10, 30, dtype=torch.float64)
heat = warmth(-1.2, 0.1, hours) + torch.randn(30, dtype=torch.float64)
found = fit(Oven([150.0, 80.0]), hours, heat, rounds=20, pace=0.02)
print("log rates", found)


def loss_at(stone, air):
    prior = (stone + 1.5) ** 2 + (air - 0.2) ** 2
    return (warmth(stone, air, hours) - heat).square().mean().item() / 100 + 0.1 * prior


s, a = -2.0, 0.5
for _ in range(20):
    ds = (loss_at(s + 1e-5, a) - loss_at(s - 1e-5, a)) / 2e-5
    da = (loss_at(s, a + 1e-5) - loss_at(s, a - 1e-5)) / 2e-5
    s, a = s - 0.02 * ds, a - 0.02 * da
SILENTLY_WRONG = abs(found[0] - s) > 1e-4 or abs(found[1] - a) > 1e-4
