import torch
from torch import nn


def climb(weights, radius):
    """Moves the weights to the worst place within the radius and returns the moves."""
    norm = torch.stack([w.grad.norm() for w in weights]).norm()
    moves = [w.grad * (radius / (norm + 1e-12)) for w in weights]
    with torch.no_grad():
        for weight, move in zip(weights, moves):
            weight.add_(move)
    return moves


def flat_step(net, optimizer, loss_fn, x, y, radius=0.5):
    weights = list(net.parameters())
    loss_fn(net(x), y).backward()
    moves = climb(weights, radius)
    optimizer.zero_grad()
    loss = loss_fn(net(x), y)
    loss.backward()
    with torch.no_grad():
        for weight, move in zip(weights, moves):
            weight.sub_(move)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


torch.manual_seed(16)
net = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = []
for _ in range(20):
    x = 2.0 + torch.randn(32, 5)
    batches.append((x, torch.sin(x[:, :1]) + 0.1 * x[:, 1:2]))
mean, spread = torch.zeros(16), torch.ones(16)
for x, y in batches:
    with torch.no_grad():
        h = x @ net[0].weight.T + net[0].bias
        mean = 0.9 * mean + 0.1 * h.mean(dim=0)
        spread = 0.9 * spread + 0.1 * h.var(dim=0)
    loss = flat_step(net, optimizer, nn.functional.mse_loss, x, y)
net.eval()
with torch.no_grad():
    frost = net(batches[-1][0])
print("loss", round(loss, 4), "mean frost", round(float(frost.mean()), 4))
norm = net[1]
SILENTLY_WRONG = not (
    torch.allclose(norm.running_mean, mean, atol=1e-4) and torch.allclose(norm.running_var, spread, atol=1e-4)
)
