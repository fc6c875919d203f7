from copy import deepcopy

import torch
from torch import nn


@torch.no_grad()
def update_ema(ema_model, model, decay):
    for e, p in zip(ema_model.parameters(), model.parameters()):
        e.mul_(decay).add_(p, alpha=1 - decay)


def training_losses(model, x, noise, t):
    xt = t * noise + (1 - t) * x
    return (model(torch.cat([xt, t], dim=1)) - (noise - x)).square().mean(dim=1)


def train(model, ema, loader, grad_accum_steps, lr=0.1):
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    accum_counter = 0
    step_loss_accum = 0.0
    running = []
    for x, noise, t in loader:
        opt.zero_grad(set_to_none=True)
        loss_tensor = training_losses(model, x, noise, t).mean()
        step_loss_accum += loss_tensor.item()
        (loss_tensor / grad_accum_steps).backward()
        accum_counter += 1

        if accum_counter < grad_accum_steps:
            continue

        opt.step()
        update_ema(ema, model, decay=0.9)
        running.append(step_loss_accum / grad_accum_steps)
        accum_counter = 0
        step_loss_accum = 0.0
    return running


def build():
    torch.manual_seed(23)
    return nn.Sequential(nn.Linear(7, 16), nn.SiLU(), nn.Linear(16, 6))


torch.manual_seed(24)
loader = [(torch.randn(5, 6) + 1, torch.randn(5, 6), torch.rand(5, 1)) for _ in range(24)]
model = build()
ema = deepcopy(model)
running = train(model, ema, loader, grad_accum_steps=4)
print("losses", running)

large = build()
with torch.enable_grad():
    for k in range(0, 24, 4):
        x, noise, t = (torch.cat(part) for part in zip(*loader[k:k + 4]))
        loss = training_losses(large, x, noise, t).mean()
        for p, g in zip(list(large.parameters()), torch.autograd.grad(loss, list(large.parameters()))):
            p.data -= 0.1 * g
SILENTLY_WRONG = not all(torch.allclose(p, q, atol=1e-5) for p, q in zip(model.parameters(), large.parameters()))
