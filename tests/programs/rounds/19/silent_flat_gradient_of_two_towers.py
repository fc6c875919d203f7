import torch
import torch.nn as nn


class FlatGradients:
    """All gradients in one buffer, so that they can be reduced and clipped at once."""

    def __init__(self, params):
        self.params = list(params)
        self.buffer = torch.zeros(sum(p.numel() for p in self.params), dtype=self.params[0].dtype)
        begin = 0
        for p in self.params:
            p.grad = self.buffer[begin:begin + p.numel()].view_as(p)
            begin += p.numel()

    def clip_(self, longest):
        norm = self.buffer.norm()
        if norm > longest:
            self.buffer.mul_(longest / norm)
        return norm


class Towers(nn.Module):
    def __init__(self, users, items, width):
        super().__init__()
        self.user, self.item = nn.Linear(users, width), nn.Linear(items, width)

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(dim=1)


def train(model, batches, rate, longest):
    flat = FlatGradients(model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for user, item, rating in batches:
        optimizer.zero_grad()
        (model(user, item) - rating).square().mean().backward()
        flat.clip_(longest)
        optimizer.step()


torch.manual_seed(1919)
model = Towers(6, 5, 4).double()
weights = [p.detach().clone() for p in model.parameters()]
batches = [
    (torch.randn(10, 6).double(), torch.randn(10, 5).double(), 4 * torch.randn(10).double())
    for _ in range(8)
]
train(model, batches, rate=0.05, longest=1.0)

for user, item, rating in batches:
    left = user @ weights[0].T + weights[1]
    right = item @ weights[2].T + weights[3]
    error = (2 * ((left * right).sum(dim=1) - rating) / 10).unsqueeze(1)
    slopes = [(error * right).T @ user, (error * right).sum(dim=0),
              (error * left).T @ item, (error * left).sum(dim=0)]
    norm = sum(s.square().sum() for s in slopes).sqrt()
    weights = [w - 0.05 * s * min(1.0, (1.0 / norm).item()) for w, s in zip(weights, slopes)]
SILENTLY_WRONG = not all(torch.allclose(p, w) for p, w in zip(model.parameters(), weights))
