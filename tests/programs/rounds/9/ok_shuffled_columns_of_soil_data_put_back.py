import torch
import torch.nn as nn


def importance(model, soil, harvest, repeats, generator):
    working = soil.clone()
    losses = torch.zeros(soil.shape[1])
    base = nn.functional.l1_loss(model(soil), harvest)
    for column in range(soil.shape[1]):
        for _ in range(repeats):
            order = torch.randperm(len(soil), generator=generator)
            working[:, column] = soil[order, column]
            losses[column] += nn.functional.l1_loss(model(working), harvest) - base
        working[:, column] = soil[:, column]
    return losses.div_(repeats)


torch.manual_seed(957)
soil = torch.randn(60, 5)
harvest = (soil[:, :1] - 0.6 * soil[:, 3:4]).tanh() + 0.1 * torch.randn(60, 1)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(40):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(soil), harvest).backward()
    optimizer.step()

with torch.no_grad():
    found = importance(model, soil, harvest, 3, torch.Generator().manual_seed(7))

generator = torch.Generator().manual_seed(7)
expected = []
with torch.no_grad():
    base = (model(soil) - harvest).abs().mean()
    for column in range(5):
        rises = []
        for _ in range(3):
            order = torch.randperm(60, generator=generator)
            columns = [soil[order, c] if c == column else soil[:, c] for c in range(5)]
            rises.append((model(torch.stack(columns, dim=1)) - harvest).abs().mean() - base)
        expected.append(sum(rises) / 3)
SILENTLY_WRONG = not torch.allclose(found, torch.stack(expected), atol=1e-5)
