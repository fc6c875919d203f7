import copy
import torch
import torch.nn as nn


def run_model(net, x, y, epochs, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x).squeeze(1), y).backward()
        optimizer.step()


def folds_of(count, parts):
    order = torch.randperm(count, generator=torch.Generator().manual_seed(1))
    return order.chunk(parts)


def cross_validate(net, x, y, parts):
    start = copy.deepcopy(net.state_dict())
    errors = []
    folds = folds_of(len(y), parts)
    for i, held_out in enumerate(folds):
        net.load_state_dict(start)
        kept = torch.cat(folds[:i] + folds[i + 1:])
        run_model(net, x[kept], y[kept], epochs=12, rate=0.02)
        with torch.no_grad():
            errors.append(nn.functional.mse_loss(net(x[held_out]).squeeze(1), y[held_out]))
    return torch.stack(errors)


torch.manual_seed(23)
x = torch.randn(48, 9, dtype=torch.float64)
y = x @ torch.randn(9, dtype=torch.float64) + 2.0 * torch.randn(48, dtype=torch.float64)
net = nn.Linear(9, 1).double()
first = torch.cat([net.weight[0], net.bias]).detach().clone()
errors = cross_validate(net, x, y, parts=6)

expected = []
wide = torch.cat([x, torch.ones(48, 1, dtype=torch.float64)], dim=1)
for held_out in folds_of(48, 6):
    kept = torch.tensor([i for i in range(48) if i not in held_out.tolist()])
    w, speed = first, torch.zeros(10, dtype=torch.float64)
    for _ in range(12):
        speed = 0.9 * speed + 2 * wide[kept].T @ (wide[kept] @ w - y[kept]) / len(kept)
        w = w - 0.02 * speed
    expected.append((wide[held_out] @ w - y[held_out]).square().mean())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-8)
