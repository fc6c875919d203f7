import torch
import torch.nn.functional as F
from torch import nn


class RiverStage(nn.Module):
    """Stage of a river from rain; the recurrent links are dropped at random in training."""

    def __init__(self, inputs, size, drop):
        super().__init__()
        self.drop = drop
        self.enter = nn.Linear(inputs, size)
        self.raw = nn.Parameter(0.4 * torch.randn(size, size))
        self.leave = nn.Linear(size, 1)

    def forward(self, rain):
        self.links = F.dropout(self.raw, self.drop, self.training)
        state = torch.zeros(rain.shape[1], self.raw.shape[0])
        for hour in rain:
            state = torch.tanh(self.enter(hour) + state @ self.links)
        return self.leave(state)


torch.manual_seed(31)
model = RiverStage(inputs=2, size=9, drop=0.25)
first = model.raw.detach().clone()
rain = torch.rand(7, 32, 2)
stage = rain.sum(dim=(0, 2))[:, None] / 7
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
moved = torch.zeros_like(first)
for _ in range(20):
    optimizer.zero_grad()
    (model(rain) - stage).square().mean().backward()
    moved -= 0.05 * model.raw.grad
    optimizer.step()
model.eval()
with torch.no_grad():
    guess = model(rain)
print("error", (guess - stage).abs().mean().item())

with torch.no_grad():
    state = torch.zeros(32, 9)
    for hour in rain:
        state = torch.tanh(hour @ model.enter.weight.T + model.enter.bias + state @ (first + moved))
    expected = state @ model.leave.weight.T + model.leave.bias
SILENTLY_WRONG = not torch.allclose(guess, expected, atol=1e-4)
