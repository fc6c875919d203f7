import torch
import torch.nn as nn


class SharpnessAware:
    def __init__(self, params, base, rho=0.5):
        self.params, self.base, self.rho = list(params), base, rho

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm()
        self.moves = [p.grad * (self.rho / norm) for p in self.params]
        for p, move in zip(self.params, self.moves):
            p.add_(move)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, move in zip(self.params, self.moves):
            p.sub_(move)
        self.base.step()
        self.base.zero_grad()


def train_step(model, sharp, x, y):
    nn.functional.mse_loss(model(x), y).backward()
    sharp.climb()
    nn.functional.mse_loss(model(x), y).backward()
    sharp.descend()


torch.manual_seed(14)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
sharp = SharpnessAware(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.1))
running = torch.zeros(8)
for _ in range(10):
    x, y = torch.randn(16, 4) + 1.0, torch.randn(16, 1)
    with torch.no_grad():
        running = 0.9 * running + 0.1 * model[0](x).mean(dim=0)
    train_step(model, sharp, x, y)

SILENTLY_WRONG = not torch.allclose(model[1].running_mean, running, atol=1e-5)
