from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluating(model):
    was = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was)


def validate(model, held):
    with evaluating(model):
        track, otter = held
        return nn.functional.cross_entropy(model(track), otter).item()


def train(model, batches, held, every):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step, (track, otter) in enumerate(batches, start=1):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(track), otter).backward()
        optimizer.step()
        if step % every == 0:
            losses.append(validate(model, held))
    return losses


torch.manual_seed(40)
track = torch.randn(150, 6) + torch.linspace(0, 3, 150).unsqueeze(1)
otter = torch.arange(150) % 3
batches = list(zip(track.split(10), otter.split(10)))
model = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 3)).train()
losses = train(model, batches, (track[::5], otter[::5]), every=3)
print("validation", losses)

mean, var = torch.zeros(6), torch.ones(6)
for part, _ in batches:
    mean = 0.9 * mean + 0.1 * part.mean(dim=0)
    var = 0.9 * var + 0.1 * part.var(dim=0)
close = torch.allclose(model[0].running_mean, mean, atol=1e-4)
SILENTLY_WRONG = not (close and torch.allclose(model[0].running_var, var, atol=1e-4))
