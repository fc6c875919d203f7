import torch
import torch.nn as nn


class OneCompartment(nn.Module):
    def __init__(self, dose):
        super().__init__()
        self.dose = dose
        self.uptake = nn.Parameter(torch.tensor(0.0, dtype=torch.float64))
        self.removal = nn.Parameter(torch.tensor(-1.5, dtype=torch.float64))
        self.volume = nn.Parameter(torch.tensor(3.0, dtype=torch.float64))

    def forward(self, hours):
        rates = torch.as_tensor([self.uptake, self.removal], dtype=torch.float64).exp()
        decay = torch.exp(-rates * hours[:, None])
        scale = self.dose * rates[0] / (self.volume.exp() * (rates[0] - rates[1]))
        return scale * (decay[:, 1] - decay[:, 0])

    def log_prior(self):
        return -(self.uptake - 0.2).square() - (self.removal + 1.0).square() - 0.1 * (self.volume - 3).square()


def fit(model, hours, level, rounds, pace):
    for _ in range(rounds):
        model.zero_grad()
        loss = 40 * (model(hours) - level).square().mean() - 0.1 * model.log_prior()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= pace * p.grad
    return [p.item() for p in model.parameters()]


def curve(u, r, v, hours, dose):
    u, r, v = (torch.as_tensor(z, dtype=torch.float64).exp() for z in (u, r, v))
    return dose * u / (v * (u - r)) * (torch.exp(-r * hours) - torch.exp(-u * hours))


torch.manual_seed(4)
hours = torch.linspace(0.25, 12, 20, dtype=torch.float64)
level = curve(0.5, -1.1, 2.8, hours, 30.0) + 0.02 * torch.randn(20, dtype=torch.float64)
found = fit(OneCompartment(30.0), hours, level, rounds=25, pace=0.01)
print("log uptake, removal and volume", found)


def loss_at(z):
    u, r, v = z
    prior = (u - 0.2) ** 2 + (r + 1.0) ** 2 + 0.1 * (v - 3) ** 2
    return 40 * (curve(u, r, v, hours, 30.0) - level).square().mean().item() + 0.1 * prior


z = [0.0, -1.5, 3.0]
for _ in range(25):
    steps = []
    for k in range(3):
        up, down = list(z), list(z)
        up[k], down[k] = z[k] + 1e-5, z[k] - 1e-5
        steps.append((loss_at(up) - loss_at(down)) / 2e-5)
    z = [a - 0.01 * s for a, s in zip(z, steps)]
SILENTLY_WRONG = any(abs(a - b) > 1e-4 for a, b in zip(found, z))
