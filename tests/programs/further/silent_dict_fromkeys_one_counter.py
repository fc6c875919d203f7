import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
totals = dict.fromkeys(["loss", "reg"], torch.zeros(1))
honest = {"loss": 0.0, "reg": 0.0}
for _ in range(3):
    out = net(torch.randn(4, 3))
    parts = {"loss": out.pow(2).mean(), "reg": 0.1 * net.weight.abs().sum()}
    sum(parts.values()).backward()
    for name, part in parts.items():
        totals[name] += part.detach()
        honest[name] += part.item()
SILENTLY_WRONG = abs(totals["loss"].item() - honest["loss"]) > 1e-4
