import torch
import torch.nn as nn


class Importance:
    def __init__(self, net, seed, repeats=3):
        self.net, self.repeats = net, repeats
        self.dice = torch.Generator().manual_seed(seed)

    @torch.no_grad()
    def error(self, x, y):
        return (self.net(x).squeeze(1) - y).abs().mean()

    def rises(self, x, y):
        base = self.error(x, y)
        found = torch.zeros(x.shape[1])
        for j in range(x.shape[1]):
            column = x[:, j]
            for _ in range(self.repeats):
                order = torch.randperm(len(x), generator=self.dice)
                x[:, j] = column[order]
                found[j] += (self.error(x, y) - base) / self.repeats
            x[:, j] = column
        return found


torch.manual_seed(3)
net = nn.Linear(5, 1)
x = torch.randn(60, 5) * torch.tensor([2.0, 1.0, 0.5, 1.5, 3.0])
y = net(x).detach().squeeze(1) + 0.2 * torch.randn(60)
readings = x.tolist()
found = Importance(net, seed=9).rises(x, y)

x = torch.tensor(readings)
dice = torch.Generator().manual_seed(9)
expected = []
with torch.no_grad():
    base = (net(x).squeeze(1) - y).abs().mean()
    for j in range(5):
        errors = []
        for _ in range(3):
            shuffled = x[torch.randperm(60, generator=dice), j]
            mixed = torch.cat([x[:, :j], shuffled[:, None], x[:, j + 1:]], dim=1)
            errors.append((net(mixed).squeeze(1) - y).abs().mean() - base)
        expected.append(torch.stack(errors).mean())
SILENTLY_WRONG = not torch.allclose(found, torch.stack(expected), atol=1e-5)
