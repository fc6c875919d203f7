import copy

import torch
import torch.nn as nn


class SensorNet(nn.Module):
    def __init__(self, channels=3, width=8):
        super().__init__()
        self.embed = nn.Linear(channels, width)
        self.missing_token = nn.Parameter(0.02 * torch.randn(width))
        self.position = nn.Parameter(0.02 * torch.randn(5, width))
        self.out = nn.Linear(width, 1)

    def forward(self, x, missing):
        h = self.embed(x)
        h[missing] = self.missing_token
        h += self.position
        return self.out(torch.relu(h).mean(dim=1)).squeeze(1)


torch.manual_seed(35)
model = SensorNet()
twin = copy.deepcopy(model)
x, y = torch.randn(16, 5, 3), torch.randn(16)
missing = torch.rand(16, 5) < 0.3

loss = nn.functional.mse_loss(model(x, missing), y)
loss.backward()

h = torch.where(missing.unsqueeze(-1), twin.missing_token, twin.embed(x)) + twin.position
expected = nn.functional.mse_loss(twin.out(h.relu().mean(dim=1)).squeeze(1), y)
expected.backward()
SILENTLY_WRONG = not all(
    torch.allclose(p.grad, q.grad, atol=1e-6) for p, q in zip(model.parameters(), twin.parameters()))
