import torch
from torch import nn


def train_step(model, optimizer, batch, micro_batches, max_norm):
    optimizer.zero_grad()
    total = 0.0
    for x, y in zip(*(t.chunk(micro_batches) for t in batch)):
        loss = nn.functional.mse_loss(model(x), y) / micro_batches
        loss.backward()
        total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return total


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
twin = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
twin.load_state_dict(model.state_dict())
x = torch.randn(32, 6) * torch.linspace(0.2, 4, 32)[:, None]
y = 5 * torch.randn(32, 2)

optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
train_step(model, optimizer, (x, y), micro_batches=4, max_norm=0.3)

grads = torch.autograd.grad(nn.functional.mse_loss(twin(x), y), list(twin.parameters()))
norm = torch.cat([g.flatten() for g in grads]).norm()
scale = min(1.0, 0.3 / norm.item())
expected = [p - 0.5 * scale * g for p, g in zip(twin.parameters(), grads)]
SILENTLY_WRONG = not all(torch.allclose(p, e, atol=1e-4) for p, e in zip(model.parameters(), expected))
