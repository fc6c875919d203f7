import torch
import torch.nn as nn
from torch.func import functional_call


class FromForest(nn.Module):
    """Makes the weights of a runoff filter from the forest of a basin."""

    def __init__(self, forest, days, hidden=5):
        super().__init__()
        self.runoff = nn.Linear(days, 1, bias=False)
        self.runoff.requires_grad_(False)
        self.body = nn.Sequential(nn.Linear(forest, hidden), nn.Tanh(), nn.Linear(hidden, days))

    def forward(self, forest, rain):
        made = self.body(forest).unsqueeze(0)
        return functional_call(self.runoff, {"weight": made}, (rain,)).squeeze(1)


def train(maker, basins, steps, rate):
    trained = [p for p in maker.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=rate, momentum=0.5)
    history = []
    for _ in range(steps):
        optimizer.zero_grad()
        losses = [(maker(forest, rain) - flow).square().mean() for forest, rain, flow in basins]
        loss = torch.stack(losses).mean()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


torch.manual_seed(286)
maker = FromForest(forest=2, days=3)
p = [value.detach().clone() for value in maker.body.parameters()]
speed = [torch.zeros_like(value) for value in p]
basins = [(torch.randn(2), torch.rand(8, 3), torch.rand(8)) for _ in range(3)]
history = train(maker, basins, steps=10, rate=0.1)

expected = []
for _ in range(10):
    leaves = [value.requires_grad_() for value in p]
    total = 0
    for forest, rain, flow in basins:
        made = leaves[2] @ torch.tanh(leaves[0] @ forest + leaves[1]) + leaves[3]
        total = total + (rain @ made - flow).square().mean() / 3
    slopes = torch.autograd.grad(total, leaves)
    speed = [0.5 * v + s for v, s in zip(speed, slopes)]
    p = [(value - 0.1 * v).detach() for value, v in zip(leaves, speed)]
    expected.append(total.item())
SILENTLY_WRONG = not torch.allclose(torch.tensor(history), torch.tensor(expected), atol=1e-4)
