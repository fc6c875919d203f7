import torch
from torch import nn


class HeatNet(nn.Module):
    def __init__(self, houses):
        super().__init__()
        self.demand = nn.Linear(4, houses)

    def forward(self, weather):
        return self.demand(weather)


def train_one_epoch(model, loader, optimizer, scaler, limit):
    norms = []
    for weather, heat in loader:
        optimizer.zero_grad()
        loss = (model(weather) - heat).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), limit).item())
        scaler.step(optimizer)
        scaler.update()
    return norms


torch.manual_seed(51)
weather = torch.randn(80, 4)
heat = 5 + 2 * weather[:, :1] - weather[:, 1:2] + torch.randn(6)
loader = list(zip(weather.split(16), heat.split(16)))
model = HeatNet(houses=6)
w, b = model.demand.weight.detach().clone(), model.demand.bias.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=4096.0, growth_interval=3)
for _ in range(3):
    norms = train_one_epoch(model, loader, optimizer, scaler, limit=0.8)
print("norms", norms, "scale", scaler.get_scale())

for _ in range(3):
    for x, y in loader:
        off = 2 * (x @ w.T + b - y) / y.numel()
        gw, gb = off.T @ x, off.sum(dim=0)
        norm = (gw.pow(2).sum() + gb.pow(2).sum()).sqrt().item()
        shrink = min(1.0, 0.8 / norm)
        w, b = w - 0.5 * shrink * gw, b - 0.5 * shrink * gb
SILENTLY_WRONG = not torch.allclose(model.demand.weight, w, atol=1e-3)
