import torch
from torch import nn


def build(bands):
    return nn.Sequential(nn.BatchNorm1d(bands), nn.Linear(bands, 8), nn.ReLU(), nn.Linear(8, 1))


def validate(model, held):
    model.eval()
    bands, cover = held
    with torch.no_grad():
        return (model(bands) - cover).pow(2).mean().item()


def train_epoch(model, optimizer, batches, held, every):
    model.train()
    for step, (bands, cover) in enumerate(batches, start=1):
        optimizer.zero_grad()
        loss = (model(bands) - cover).pow(2).mean()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            validate(model, held)


def season(count, bands, drift):
    x = torch.randn(count, bands) * 0.5 + torch.linspace(0.0, drift, count).unsqueeze(1)
    return x, (x[:, :1] - 0.3 * x[:, 1:2]).sigmoid()


torch.manual_seed(12)
model = build(bands=4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = season(240, 4, drift=2.0)
batches = list(zip(x.split(24), y.split(24)))
held = season(50, 4, drift=2.0)
for epoch in range(3):
    train_epoch(model, optimizer, batches, held, every=4)
print("validation", validate(model, held), "after", model[0].num_batches_tracked.item(), "batches")

mean, var = torch.zeros(4), torch.ones(4)
for _ in range(3):
    for bands, _ in batches:
        mean = 0.9 * mean + 0.1 * bands.mean(dim=0)
        var = 0.9 * var + 0.1 * bands.var(dim=0)
SILENTLY_WRONG = not torch.allclose(model[0].running_mean, mean, atol=1e-4)
