import torch
from torch import nn


class Survey:
    """Fits the net anew in every round, to all catches known by then."""

    def __init__(self, width, lr):
        self.network = nn.Sequential(nn.Linear(width, 5), nn.Tanh(), nn.Linear(5, 1))
        self.lr = lr
        self.initial = self.get_state_dict()

    def get_state_dict(self):
        return self.network.state_dict()

    def run_round(self, traps, crabs, epochs):
        self.network.load_state_dict(self.initial)
        optimizer = torch.optim.SGD(self.network.parameters(), lr=self.lr)
        for _ in range(epochs):
            optimizer.zero_grad()
            (self.network(traps).squeeze(1) - crabs).square().mean().backward()
            optimizer.step()
        with torch.no_grad():
            return self.network(traps).squeeze(1)


torch.manual_seed(3)
traps = torch.randn(45, 3)
crabs = 2 + traps[:, 0].tanh() - 0.5 * traps[:, 2]
survey = Survey(3, lr=0.05)
start = [p.detach().clone() for p in survey.network.parameters()]
for known in (15, 30, 45):
    fitted = survey.run_round(traps[:known], crabs[:known], epochs=12)
print("error of the last round", (fitted - crabs).square().mean().item())

w1, b1, w2, b2 = (p.requires_grad_() for p in start)
for _ in range(12):
    loss = ((torch.tanh(traps @ w1.T + b1) @ w2.T + b2).squeeze(1) - crabs).square().mean()
    grads = torch.autograd.grad(loss, (w1, b1, w2, b2))
    w1, b1, w2, b2 = ((p - 0.05 * g).detach().requires_grad_() for p, g in zip((w1, b1, w2, b2), grads, strict=True))
expected = (torch.tanh(traps @ w1.T + b1) @ w2.T + b2).squeeze(1)
SILENTLY_WRONG = not torch.allclose(fitted, expected, atol=1e-4)
