from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Plan:
    batch: int = 24
    micro: int = 8
    rate: float = 0.05
    epochs: int = 10


def fit_moisture(net, spectra, moisture, plan):
    opt = torch.optim.SGD(net.parameters(), lr=plan.rate, momentum=0.9)
    history = []
    for _ in range(plan.epochs):
        for first in range(0, len(spectra), plan.batch):
            x = spectra[first : first + plan.batch]
            y = moisture[first : first + plan.batch]
            total = 0.0
            for part, truth in zip(x.split(plan.micro), y.split(plan.micro)):
                opt.zero_grad(set_to_none=True)
                loss = (net(part).squeeze(1) - truth).square().sum() / len(x)
                loss.backward()
                total += loss.item()
            opt.step()
            history.append(total)
    return history


torch.manual_seed(22)
spectra = torch.randn(72, 6, dtype=torch.float64)
moisture = 12 + spectra @ torch.tensor([0.8, -0.4, 0.0, 0.3, 0.1, -0.9], dtype=torch.float64)
net = nn.Linear(6, 1).double()
w, b = net.weight.detach()[0].clone(), net.bias.detach().clone()
history = fit_moisture(net, spectra, moisture, Plan())
print("squared error from", history[0], "to", history[-1])

speed_w, speed_b, errors = torch.zeros_like(w), torch.zeros_like(b), []
for _ in range(10):
    for x, y in zip(spectra.split(24), moisture.split(24)):
        miss = x @ w + b - y
        errors.append(miss.square().mean().item())
        speed_w = 0.9 * speed_w + 2 * x.T @ miss / 24
        speed_b = 0.9 * speed_b + 2 * miss.mean()
        w, b = w - 0.05 * speed_w, b - 0.05 * speed_b
SILENTLY_WRONG = abs(history[-1] - errors[-1]) > 1e-6
