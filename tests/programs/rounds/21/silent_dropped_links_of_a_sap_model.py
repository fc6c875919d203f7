import torch
import torch.nn.functional as F
from torch import nn


class SapFlow(nn.Module):
    """Recurrent model of sap flow whose recurrent links are dropped at random in training."""

    def __init__(self, inputs, size, drop):
        super().__init__()
        self.drop = drop
        self.enter = nn.Linear(inputs, size)
        self.recurrent = nn.Parameter(0.4 * torch.randn(size, size))
        self.leave = nn.Linear(size, 1)

    def drop_links(self):
        self.recurrent.data = F.dropout(self.recurrent.data, self.drop, self.training)

    def forward(self, weather):
        self.drop_links()
        state = torch.zeros(weather.shape[1], self.recurrent.shape[0])
        for hour in weather:
            state = torch.tanh(self.enter(hour) + state @ self.recurrent)
        return self.leave(state)


torch.manual_seed(21)
model = SapFlow(inputs=3, size=10, drop=0.3)
first = {name: p.detach().clone() for name, p in model.named_parameters()}
weather = torch.randn(6, 40, 3)
flow = weather[-2:, :, 0].sum(dim=0)[:, None]
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch.manual_seed(5)
for _ in range(25):
    optimizer.zero_grad()
    (model(weather) - flow).square().mean().backward()
    optimizer.step()
print("share of links at zero", (model.recurrent == 0).float().mean().item())

weights = {name: p.requires_grad_() for name, p in first.items()}
torch.manual_seed(5)
for _ in range(25):
    kept = F.dropout(weights["recurrent"], 0.3)
    state = torch.zeros(40, 10)
    for hour in weather:
        state = torch.tanh(hour @ weights["enter.weight"].T + weights["enter.bias"] + state @ kept)
    guess = state @ weights["leave.weight"].T + weights["leave.bias"]
    slopes = torch.autograd.grad((guess - flow).square().mean(), list(weights.values()))
    weights = {n: (w - 0.05 * g).detach().requires_grad_()
               for (n, w), g in zip(weights.items(), slopes)}
SILENTLY_WRONG = not torch.allclose(model.recurrent, weights["recurrent"], atol=1e-4)
