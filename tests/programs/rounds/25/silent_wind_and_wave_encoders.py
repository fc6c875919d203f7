import torch
from torch import nn


def perceptron(width, depth):
    layers = [nn.Linear(1, width), nn.Tanh()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers)


class BuoyModel(nn.Module):
    """Guesses the drift of a buoy from the wind and the height of the waves."""

    def __init__(self, width=12):
        super().__init__()
        self.encoders = nn.ModuleList([perceptron(width, 2)] * 2)
        self.decoder = nn.Linear(2 * width, 1)

    def forward(self, wind, wave):
        parts = [encode(x) for encode, x in zip(self.encoders, (wind, wave))]
        return self.decoder(torch.cat(parts, dim=-1))


torch.manual_seed(19)
model = BuoyModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
wind = torch.randn(200, 1)
wave = torch.rand(200, 1) * 2
drift = 0.4 * wind + torch.sin(2 * wave)
for epoch in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(wind, wave), drift)
    loss.backward()
    optimizer.step()
count = sum(p.numel() for p in model.parameters())
same = torch.equal(model.encoders[0](wave), model.encoders[1](wave))
print("loss", round(loss.item(), 4), "weights", count)

one = (1 * 12 + 12) + (12 * 12 + 12)
SILENTLY_WRONG = count != 2 * one + (24 * 1 + 1) or same
