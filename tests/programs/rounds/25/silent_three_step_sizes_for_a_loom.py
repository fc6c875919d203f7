import torch
from torch import nn

torch.manual_seed(51)
speed = torch.linspace(-1, 1, 40)[:, None]
tension = 0.6 * torch.sin(3 * speed) + 0.2 * speed
loom = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))


def train(model, rate, steps=50):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(speed), tension)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


begin = loom.state_dict()
first_loss = nn.functional.mse_loss(loom(speed), tension).item()
curves = {}
for rate in (0.3, 0.03, 0.003):
    loom.load_state_dict(begin)
    curves[rate] = train(loom, rate)
best = min(curves, key=lambda rate: curves[rate][-1])
for rate, losses in curves.items():
    print("step size", rate, "from", round(losses[0], 4), "to", round(losses[-1], 4))
print("chosen", best)
SILENTLY_WRONG = any(abs(losses[0] - first_loss) > 1e-5 for losses in curves.values())
