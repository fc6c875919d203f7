import torch
from torch import nn


def clipped_sum(model, loss_of, batch, limit):
    """Sum over the samples of their gradients, each cut to the given length."""
    total = [torch.zeros_like(p) for p in model.parameters()]
    for night, hours in zip(*batch):
        model.zero_grad()
        loss_of(model, night.unsqueeze(0), hours.unsqueeze(0)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), limit)
        for kept, p in zip(total, model.parameters()):
            kept += p.grad
    return total


def private_step(model, optimizer, batch, limit, noise, gen):
    total = clipped_sum(model, squared, batch, limit)
    for p, kept in zip(model.parameters(), total):
        kept += noise * limit * torch.randn(kept.shape, generator=gen)
        p.grad = kept.div_(len(batch[0]))
    optimizer.step()


def squared(model, night, hours):
    return (model(night).squeeze(1) - hours).pow(2).mean()


torch.manual_seed(49)
night = torch.randn(60, 3)
hours = 7 + night @ torch.tensor([0.5, -0.4, 0.1])
model = nn.Linear(3, 1)
w, b = model.weight.detach().clone(), model.bias.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
gen = torch.Generator().manual_seed(50)
for batch in zip(night.split(12), hours.split(12)):
    private_step(model, optimizer, batch, limit=1.0, noise=0.1, gen=gen)
print("weights", model.weight.tolist(), model.bias.item())

gen = torch.Generator().manual_seed(50)
for x, y in zip(night.split(12), hours.split(12)):
    off = 2 * (x @ w[0] + b - y)
    each = off.unsqueeze(1) * torch.cat([x, torch.ones(12, 1)], dim=1)
    each = each * (1.0 / each.norm(dim=1, keepdim=True)).clamp(max=1.0)
    grad = each.sum(dim=0)
    w = w - 0.5 * (grad[:3] + 0.1 * torch.randn(1, 3, generator=gen)) / 12
    b = b - 0.5 * (grad[3:] + 0.1 * torch.randn(1, generator=gen)) / 12
SILENTLY_WRONG = not torch.allclose(model.weight, w, atol=1e-4)
