import copy

import torch
import torch.nn as nn


class Forecaster(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, 1)
        self.register_buffer("level", torch.ones(width))

    def forward(self, x):
        if self.training:
            self.level = 0.8 * self.level + 0.2 * x.abs().mean(dim=0)
        return self.mix(x / self.level).squeeze(1)


class Averaged(nn.Module):
    """Moving average of the weights; the statistics stay those of the live model."""

    def __init__(self, model, decay=0.9):
        super().__init__()
        self.decay, self.model = decay, copy.deepcopy(model).eval()
        self.model.requires_grad_(False)
        buffers = dict(model.named_buffers())
        for path, module in self.model.named_modules():
            for name in module._buffers:
                module._buffers[name] = buffers[f"{path}.{name}".lstrip(".")]

    @torch.no_grad()
    def update(self, model):
        for mean, p in zip(self.model.parameters(), model.parameters()):
            mean.lerp_(p, 1 - self.decay)

    def forward(self, x):
        return self.model(x)


def train(model, averaged, batches, rate=0.05):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for x, y in batches:
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
        averaged.update(model)


torch.manual_seed(1906)
model = Forecaster(5).double()
averaged = Averaged(model)
weight, bias = model.mix.weight.detach().clone()[0], model.mix.bias.detach().clone()
batches = [(5 * torch.randn(16, 5).double(), torch.randn(16).double()) for _ in range(12)]
train(model, averaged, batches)
test = 5 * torch.randn(6, 5).double()
forecast = averaged(test)

level, mean_weight, mean_bias = torch.ones(5).double(), weight, bias
for x, y in batches:
    level = 0.8 * level + 0.2 * x.abs().mean(dim=0)
    slope = 2 * (x / level @ weight + bias - y) / 16
    weight, bias = weight - 0.05 * slope @ (x / level), bias - 0.05 * slope.sum()
    mean_weight, mean_bias = 0.9 * mean_weight + 0.1 * weight, 0.9 * mean_bias + 0.1 * bias
SILENTLY_WRONG = not torch.allclose(forecast, test / level @ mean_weight + mean_bias)
