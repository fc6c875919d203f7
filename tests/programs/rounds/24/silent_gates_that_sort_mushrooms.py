import io

import torch
from torch import nn


class GateLayer(nn.Module):
    """Soft logic gates, each on two wires drawn at random: a mix of AND, OR and XOR."""

    def __init__(self, inputs, gates):
        super().__init__()
        self.indices = torch.randint(0, inputs, (2, gates))
        self.kind = nn.Parameter(torch.randn(gates, 3))

    def forward(self, x):
        a, b = x[:, self.indices[0]], x[:, self.indices[1]]
        outcomes = torch.stack([a * b, a + b - a * b, a + b - 2 * a * b], dim=-1)
        return (outcomes * self.kind.softmax(dim=-1)).sum(dim=-1)


class MushroomGates(nn.Module):
    def __init__(self, traits, gates):
        super().__init__()
        self.first = GateLayer(traits, gates)
        self.second = GateLayer(gates, gates)

    def forward(self, x):
        return self.second(self.first(x)).mean(dim=1)


def train(model, traits, edible, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy(model(traits), edible).backward()
        optimizer.step()


def save(model):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    return file


def load(file, traits, gates):
    model = MushroomGates(traits, gates)
    model.load_state_dict(torch.load(file))
    return model.eval()


torch.manual_seed(15)
traits = (torch.rand(200, 12) < 0.5).float()
edible = (traits[:, 0] * traits[:, 3]).maximum(traits[:, 7])
model = MushroomGates(12, 16)
train(model, traits, edible, steps=15)
again = load(save(model), 12, 16)
found = again(traits).detach()
print("share found edible", (found > 0.5).float().mean().item())
SILENTLY_WRONG = not torch.allclose(found, model(traits).detach(), atol=1e-5)
