import torch
import torch.nn as nn


def make_model():
    torch.manual_seed(6)
    return nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 1)).double()


def hardest_gust(model, opt, wind, sway, reach, pace, rounds):
    """Added gust within reach for which the prediction of the sway fails most."""
    gust = torch.zeros_like(wind).requires_grad_()
    for _ in range(rounds):
        loss = (model(wind + gust).squeeze(1) - sway).square().mean()
        opt.zero_grad()
        loss.backward()
        with torch.no_grad():
            gust += pace * gust.grad / gust.grad.norm()
            gust.clamp_(-reach, reach)
        gust.grad.zero_()
    return gust.detach()


torch.manual_seed(2)
wind = torch.randn(50, 8, dtype=torch.float64)
sway = wind[:, 0] * wind[:, 1] + 0.3 * wind[:, 2]
model = make_model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    gust = hardest_gust(model, opt, wind, sway, reach=0.2, pace=0.4, rounds=5)
    opt.zero_grad()
    (model(wind + gust).squeeze(1) - sway).square().mean().backward()
    opt.step()
print("largest gust", gust.abs().max().item())

other = make_model()
weights = list(other.parameters())
for epoch in range(4):
    hard = torch.zeros_like(wind)
    for _ in range(5):
        hard.requires_grad_()
        error = (other(wind + hard).squeeze(1) - sway).square().mean()
        slope, = torch.autograd.grad(error, hard)
        hard = (hard.detach() + 0.4 * slope / slope.norm()).clamp(-0.2, 0.2)
    error = (other(wind + hard).squeeze(1) - sway).square().mean()
    slopes = torch.autograd.grad(error, weights)
    with torch.no_grad():
        for w, s in zip(weights, slopes):
            w.copy_(w - 0.1 * s)
SILENTLY_WRONG = not torch.allclose(gust, hard, atol=1e-8)
