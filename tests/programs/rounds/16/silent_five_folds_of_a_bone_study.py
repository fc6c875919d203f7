import torch
import torch.nn as nn


def run_model(net, x, y, epochs, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x).squeeze(1), y).backward()
        optimizer.step()
    return net


def folds_of(count, parts):
    order = torch.randperm(count, generator=torch.Generator().manual_seed(1))
    return order.chunk(parts)


def cross_validate(net, x, y, parts):
    errors = []
    folds = folds_of(len(y), parts)
    for i, held_out in enumerate(folds):
        kept = torch.cat([f for j, f in enumerate(folds) if j != i])
        run_model(net, x[kept], y[kept], epochs=15, rate=0.02)
        net.eval()
        with torch.no_grad():
            errors.append(nn.functional.mse_loss(net(x[held_out]).squeeze(1), y[held_out]))
        net.train()
    return torch.stack(errors)


torch.manual_seed(22)
x = torch.randn(50, 12, dtype=torch.float64)
y = x @ torch.randn(12, dtype=torch.float64) + 2.0 * torch.randn(50, dtype=torch.float64)
net = nn.Linear(12, 1).double()
weight, bias = net.weight[0].detach().clone(), net.bias[0].detach().clone()
errors = cross_validate(net, x, y, parts=5)

expected = []
wide = torch.cat([x, torch.ones(50, 1, dtype=torch.float64)], dim=1)
for held_out in folds_of(50, 5):
    kept = torch.tensor([i for i in range(50) if i not in held_out.tolist()])
    w, speed = torch.cat([weight, bias[None]]), torch.zeros(13, dtype=torch.float64)
    for _ in range(15):
        speed = 0.9 * speed + 2 * wide[kept].T @ (wide[kept] @ w - y[kept]) / len(kept)
        w = w - 0.02 * speed
    expected.append((wide[held_out] @ w - y[held_out]).square().mean())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-8)
