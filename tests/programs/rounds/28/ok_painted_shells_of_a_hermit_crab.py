import torch
from torch import nn


class Shells:
    def __init__(self, painter, gull, lr=0.05):
        self.painter, self.gull = painter, gull
        self.optim_painter = torch.optim.SGD(painter.parameters(), lr=lr)
        self.optim_gull = torch.optim.SGD(gull.parameters(), lr=lr)

    def step(self, stones, noise):
        self.gull.zero_grad()
        painted = self.painter(noise)
        nn.functional.softplus(-self.gull(stones)).mean().backward()
        nn.functional.softplus(self.gull(painted.detach())).mean().backward()
        self.optim_gull.step()

        self.painter.zero_grad()
        nn.functional.softplus(-self.gull(painted)).mean().backward()
        self.optim_painter.step()


torch.manual_seed(57)
painter, gull = nn.Linear(2, 3, bias=False), nn.Linear(3, 1, bias=False)
p, g = painter.weight.detach().clone(), gull.weight.detach()[0].clone()
tides = [(torch.randn(8, 3) - 0.5, torch.randn(8, 2)) for _ in range(12)]
shells = Shells(painter, gull)
for stones, noise in tides:
    shells.step(stones, noise)
print("what the gull looks at", gull.weight.tolist())

for stones, noise in tides:
    made = noise @ p.T
    g = g + 0.05 * (torch.sigmoid(-(stones @ g)) @ stones - torch.sigmoid(made @ g) @ made) / 8
    p = p + 0.05 * torch.outer(g, torch.sigmoid(-(made @ g)) @ noise) / 8
SILENTLY_WRONG = not torch.allclose(gull.weight[0], g, atol=1e-4)
