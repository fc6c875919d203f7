import torch
from torch import nn

torch.manual_seed(0)


class TailAverage:
    """Mean of the parameters over all steps after `start`."""

    def __init__(self, params, start):
        self.params = list(params)
        self.start = start
        self.count = 0
        self.means = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def update(self, step):
        if step < self.start:
            return
        self.count += 1
        for mean, param in zip(self.means, self.params):
            mean += (param - mean) / self.count

    @torch.no_grad()
    def finish(self):
        for mean, param in zip(self.means, self.params):
            param.copy_(mean)


x, y = torch.randn(40, 3), torch.randn(40, 1)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
tail = TailAverage(model.parameters(), start=5)
snapshots = []
for step in range(15):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    tail.update(step)
    snapshots.append(model.weight.detach().clone())
tail.finish()

expected = torch.stack(snapshots[5:]).mean(0)
SILENTLY_WRONG = not torch.allclose(model.weight, expected, atol=1e-5)
