import torch
from torch import nn


class MeltModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(5, 12)
        self.out = nn.Linear(12, 1)

    def forward(self, days):
        return self.out(torch.tanh(self.hidden(days)))


def fit(model, portions, rounds, rate=0.3, bound=0.5):
    """One step for all the glaciers together, which are read one after another."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(rounds):
        optimizer.zero_grad()
        for days, melt in portions:
            loss = (model(days) - melt).square().mean() / len(portions)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), bound)
        optimizer.step()


torch.manual_seed(13)
model = MeltModel()
start = [p.detach().clone() for p in model.parameters()]
portions = []
for glacier in range(4):
    days = torch.randn(20, 5) + glacier
    portions.append((days, (1 + glacier) * days[:, :1] - 2 * days[:, 1:2]))
fit(model, portions, rounds=10)
print("weights of the last layer", [round(w, 3) for w in model.out.weight[0].tolist()])

a, b, c, d = start
for _ in range(10):
    leaves = [w.clone().requires_grad_() for w in (a, b, c, d)]
    total = 0.0
    for days, melt in portions:
        guess = torch.tanh(days @ leaves[0].T + leaves[1]) @ leaves[2].T + leaves[3]
        total = total + (guess - melt).square().mean() / 4
    slopes = torch.autograd.grad(total, leaves)
    norm = torch.cat([s.flatten() for s in slopes]).norm()
    shrink = min(1.0, 0.5 / (norm.item() + 1e-6))
    a, b, c, d = [w - 0.3 * shrink * s for w, s in zip((a, b, c, d), slopes)]
SILENTLY_WRONG = not torch.allclose(model.out.weight, c, atol=1e-3)
