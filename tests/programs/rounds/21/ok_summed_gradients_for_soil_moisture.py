import torch
from torch import nn


def fit(model, portions, rounds, rate, bound):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.8)
    norms = []
    for _ in range(rounds):
        for probes, moisture in portions:
            loss = (model(probes) - moisture).square().sum() / sum(len(p) for p, _ in portions)
            loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), bound).item())
        optimizer.step()
        optimizer.zero_grad()
    return norms


torch.manual_seed(29)
fields = [torch.randn(n, 4) + shift for n, shift in ((12, 0.0), (30, 1.0), (7, -1.5))]
portions = [(f, f[:, :1] - 0.5 * f[:, 2:3] + 2) for f in fields]
model = nn.Linear(4, 1)
weight, bias = model.weight.detach().clone(), model.bias.detach().clone()
norms = fit(model, portions, rounds=12, rate=0.1, bound=1.5)
print("norms", [round(n, 3) for n in norms])

x = torch.cat([p for p, _ in portions])
y = torch.cat([m for _, m in portions])
speed_w, speed_b = torch.zeros_like(weight), torch.zeros_like(bias)
for _ in range(12):
    miss = 2 * (x @ weight.T + bias - y) / len(x)
    slope_w, slope_b = miss.T @ x, miss.sum(dim=0)
    norm = (slope_w.square().sum() + slope_b.square().sum()).sqrt()
    shrink = torch.clamp(1.5 / (norm + 1e-6), max=1.0)
    speed_w, speed_b = 0.8 * speed_w + shrink * slope_w, 0.8 * speed_b + shrink * slope_b
    weight, bias = weight - 0.1 * speed_w, bias - 0.1 * speed_b
SILENTLY_WRONG = not torch.allclose(model.weight, weight, atol=1e-4)
