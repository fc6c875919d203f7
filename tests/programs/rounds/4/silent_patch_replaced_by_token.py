import copy

import torch
import torch.nn as nn


class MaskedPatches(nn.Module):
    def __init__(self, patch=6, width=8):
        super().__init__()
        self.embed = nn.Linear(patch, width)
        self.token = nn.Parameter(0.02 * torch.randn(width))
        self.mix = nn.Linear(width, width)
        self.decode = nn.Linear(width, patch)

    def forward(self, patches, hidden):
        tokens = self.embed(patches)
        tokens.data[hidden] = self.token.data
        context = tokens.mean(dim=1, keepdim=True)
        return self.decode(torch.tanh(self.mix(tokens) + context))


def reconstruction_loss(model, patches, hidden):
    return (model(patches, hidden) - patches)[hidden].pow(2).mean()


torch.manual_seed(15)
model = MaskedPatches()
twin = copy.deepcopy(model)
patches = torch.randn(4, 9, 6)
hidden = torch.rand(4, 9) < 0.4
reconstruction_loss(model, patches, hidden).backward()

tokens = torch.where(hidden.unsqueeze(-1), twin.token, twin.embed(patches))
context = tokens.mean(dim=1, keepdim=True)
output = twin.decode(torch.tanh(twin.mix(tokens) + context))
(output - patches)[hidden].pow(2).mean().backward()
SILENTLY_WRONG = model.token.grad is None or not torch.allclose(
    model.embed.weight.grad, twin.embed.weight.grad, atol=1e-6)
