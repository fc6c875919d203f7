import copy

import torch
import torch.nn as nn


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, 2)
        self.register_buffer("level", torch.ones(width))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.level.mul_(0.7).add_(x.abs().mean(dim=0), alpha=0.3)
        return self.mix(x / self.level.clone())


class Averaged(nn.Module):
    """Equal average of the weights of all steps, with the live statistics."""

    def __init__(self, model):
        super().__init__()
        self.steps, self.model = 0, copy.deepcopy(model).eval()
        self.model.requires_grad_(False)
        live = dict(model.named_buffers())
        for name, module in self.model.named_modules():
            for key in list(module._buffers):
                module._buffers[key] = live[f"{name}.{key}".lstrip(".")]

    @torch.no_grad()
    def update(self, model):
        self.steps += 1
        for mean, p in zip(self.model.parameters(), model.parameters()):
            mean.add_((p - mean) / self.steps)

    def forward(self, x):
        return self.model(x)


torch.manual_seed(2913)
model = Scaled(4).double()
averaged = Averaged(model)
weight, bias = model.mix.weight.detach().clone(), model.mix.bias.detach().clone()
batches = [(3 * torch.randn(10, 4).double(), torch.randint(0, 2, (10,))) for _ in range(7)]
for x, y in batches:
    model.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.3 * p.grad
    averaged.update(model)
test = 3 * torch.randn(5, 4).double()
scores = averaged(test)

level, seen = torch.ones(4).double(), []
for x, y in batches:
    level = 0.7 * level + 0.3 * x.abs().mean(dim=0)
    wrong = ((x / level @ weight.T + bias).softmax(dim=1) - torch.eye(2).double()[y]) / 10
    weight, bias = weight - 0.3 * wrong.T @ (x / level), bias - 0.3 * wrong.sum(dim=0)
    seen.append((weight, bias))
mean_weight, mean_bias = (sum(part) / len(seen) for part in zip(*seen))
SILENTLY_WRONG = not torch.allclose(scores, test / level @ mean_weight.T + mean_bias)
