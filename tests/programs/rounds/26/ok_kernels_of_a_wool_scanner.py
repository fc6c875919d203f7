import copy

import torch
import torch.nn as nn


def strip_chart(kernels, stretch=True):
    """Kernels of a one-dimensional convolution below each other, stretched to 0 to 1."""
    rows = kernels.flatten(1).clone()
    if stretch:
        rows.sub_(rows.min())
        rows.div_(rows.max())
    rows[:, -1] = 0.5
    return rows


def train(net, fibre, kind, steps, charts=None):
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(steps):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(fibre), kind)
        loss.backward()
        opt.step()
        if charts is not None and step % 5 == 0:
            charts[step] = strip_chart(net[0].weight.data)
    return loss.item()


torch.manual_seed(16)
fibre = torch.randn(24, 1, 40)
kind = torch.arange(24) % 4
scanner = nn.Sequential(nn.Conv1d(1, 6, 9), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 32, 4))
plain = copy.deepcopy(scanner)
charts = {}
loss = train(scanner, fibre, kind, 20, charts)
print(sorted(charts), "loss", loss)

same = torch.equal(scanner[0].weight, plain[0].weight)
SILENTLY_WRONG = same or abs(loss - train(plain, fibre, kind, 20)) > 1e-6
