import numpy as np
import torch
from torch import nn


def load_survey(rows, seed):
    """Lengths and weights, and the age class that the survey writes as 0.0, 1.0 or 2.0."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 3, size=rows).astype(np.float64)
    lengths = 12.0 + 6.0 * ages + rng.normal(scale=0.8, size=rows)
    weights = 0.01 * lengths ** 3 * (1 + 0.05 * rng.normal(size=rows))
    return np.stack([lengths, weights, ages], axis=1)


def to_tensors(table):
    table = torch.from_numpy(table)
    x = table[:, :2].float()
    x -= x.mean(dim=0)
    x /= x.std(dim=0)
    y = table[:, 2].type(torch.LongTensor)
    return x, y


def fit(net, x, y, epochs, lr):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for epoch in range(epochs):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


torch.manual_seed(90)
table = load_survey(rows=90, seed=91)
lengths = table[:, 0].copy()
x, y = to_tensors(table)
net = nn.Linear(2, 3)
fit(net, x, y, epochs=150, lr=0.5)
right = (net(x).argmax(dim=1) == y).float().mean().item()
counts = torch.bincount(y, minlength=3)
print("right", right, "fish of each age", counts.tolist())

expected = [int((table[:, 2] == a).sum()) for a in range(3)]
SILENTLY_WRONG = counts.tolist() != expected or not np.array_equal(lengths, table[:, 0]) or right < 0.9
