import torch
from torch import nn


class Rounder(nn.Module):
    def __init__(self, levels=7):
        super().__init__()
        self.levels = levels
        self.width = nn.Parameter(torch.ones(1))

    @torch.no_grad()
    def fit_range(self, sample):
        self.width.copy_(sample.abs().amax() / self.levels)

    def forward(self, x):
        scaled = (x / self.width).clamp(-self.levels, self.levels)
        return (scaled + (scaled.round() - scaled).detach()) * self.width


class Throat(nn.Module):
    def __init__(self):
        super().__init__()
        self.bands = nn.Linear(6, 8)
        self.rounder = Rounder()
        self.voice = nn.Linear(8, 2)

    def forward(self, sound):
        return self.voice(self.rounder(torch.tanh(self.bands(sound))))


torch.manual_seed(22)
throat = Throat()
optimizer = torch.optim.SGD(throat.parameters(), lr=0.002)
sound = torch.randn(50, 6)
target = torch.cos(sound @ torch.randn(6, 2))
throat.rounder.fit_range(torch.tanh(throat.bands(sound)))
weights = {name: value.detach().clone().requires_grad_() for name, value in throat.named_parameters()}
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(throat(sound), target)
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "width", round(throat.rounder.width.item(), 4))

for epoch in range(40):
    answer = torch.func.functional_call(throat, weights, (sound,))
    slopes = torch.autograd.grad((answer - target).square().mean(), list(weights.values()))
    weights = {
        name: (value - 0.002 * slope).detach().requires_grad_()
        for (name, value), slope in zip(weights.items(), slopes)
    }
SILENTLY_WRONG = not torch.allclose(throat.rounder.width, weights["rounder.width"], atol=1e-4)
