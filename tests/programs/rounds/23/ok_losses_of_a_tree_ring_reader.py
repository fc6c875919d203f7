import torch
from torch import nn


class RingLoss(nn.Module):
    """Is there a ring here, and if so, how wide and how dark is it."""

    def __init__(self):
        super().__init__()
        self.log = {"ring": 0.0, "shape": 0.0, "total": 0.0}

    def forward(self, output, labels):
        rings = labels[:, 0] > 0.5
        loss = nn.functional.binary_cross_entropy_with_logits(output[:, 0], labels[:, 0])
        self.log["ring"] += loss.item()
        for k in (1, 2):
            shape_loss = nn.functional.mse_loss(output[rings, k], labels[rings, k])
            self.log["shape"] += shape_loss.item()
            loss += shape_loss
        self.log["total"] += loss.item()
        return loss


torch.manual_seed(33)
cores = torch.randn(60, 4, dtype=torch.float64)
labels = torch.cat([(cores[:, :1] > 0.2).double(), 0.3 * cores[:, 1:3]], dim=1)
reader, criterion = nn.Linear(4, 3).double(), RingLoss()
w, b = [p.detach().clone() for p in reader.parameters()]
optimizer = torch.optim.SGD(reader.parameters(), lr=0.2)
for epoch in range(3):
    for x, y in zip(cores.split(15), labels.split(15)):
        optimizer.zero_grad()
        criterion(reader(x), y).backward()
        optimizer.step()
print({name: value / 12 for name, value in criterion.log.items()})

sums = torch.zeros(3, dtype=torch.float64)
for _ in range(3):
    for x, y in zip(cores.split(15), labels.split(15)):
        w, b = w.detach().requires_grad_(), b.detach().requires_grad_()
        out, t = x @ w.T + b, y[:, 0]
        p = torch.sigmoid(out[:, 0])
        ring = -(t * p.log() + (1 - t) * (1 - p).log()).mean()
        shape = ((out[:, 1:] - y[:, 1:])[t == 1] ** 2).mean(dim=0).sum()
        sums = sums + torch.stack([ring, shape, ring + shape]).detach()
        slopes = torch.autograd.grad(ring + shape, (w, b))
        w, b = w - 0.2 * slopes[0], b - 0.2 * slopes[1]
logged = torch.tensor(list(criterion.log.values()), dtype=torch.float64)
SILENTLY_WRONG = not (torch.allclose(logged, sums, atol=1e-8) and torch.allclose(reader.weight, w, atol=1e-8))
