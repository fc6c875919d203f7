import itertools

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
images, targets = 2 + 3 * torch.randn(32, 4), torch.randn(32, 1)
loader = DataLoader(TensorDataset(images, targets), batch_size=8)
model = nn.Linear(4, 1)
weight, bias = model.weight.detach().clone(), model.bias.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

batches = itertools.cycle(loader)
for step in range(12):
    x, y = next(batches)
    x.sub_(2.0).div_(3.0)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

scaled = (images - 2.0) / 3.0
for step in range(12):
    rows = slice(step % 4 * 8, step % 4 * 8 + 8)
    error = scaled[rows] @ weight.t() + bias - targets[rows]
    weight = weight - 0.05 * 2 * error.t() @ scaled[rows] / 8
    bias = bias - 0.05 * 2 * error.mean(dim=0)
SILENTLY_WRONG = not torch.allclose(model.weight, weight, atol=1e-5)
