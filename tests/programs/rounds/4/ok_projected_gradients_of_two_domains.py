import torch
import torch.nn as nn


class ProjectedStep:
    def __init__(self, params, optimizer):
        self.params, self.optimizer = list(params), optimizer

    def flat_grad(self, loss):
        parts = torch.autograd.grad(loss, self.params, retain_graph=True)
        return torch.cat([g.reshape(-1) for g in parts])

    def __call__(self, losses):
        grads = [self.flat_grad(loss) for loss in losses]
        total = torch.zeros_like(grads[0])
        for i, g in enumerate(grads):
            mine = g.clone()
            for j, other in enumerate(grads):
                overlap = torch.dot(mine, other)
                if i != j and overlap < 0:
                    mine.sub_(other, alpha=(overlap / other.pow(2).sum()).item())
            total += mine
        start = 0
        for p in self.params:
            p.grad = total[start:start + p.numel()].view_as(p)
            start += p.numel()
        self.optimizer.step()


torch.manual_seed(32)
model = nn.Linear(4, 1)
w = torch.cat([model.weight.detach().reshape(-1), model.bias.detach()])
step = ProjectedStep(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.1))
domains = [(torch.randn(12, 4), torch.randn(12, 1)) for _ in range(3)]
for _ in range(5):
    step([nn.functional.mse_loss(model(x), y) for x, y in domains])

for _ in range(5):
    rows = []
    for x, y in domains:
        x1 = torch.cat([x, torch.ones(12, 1)], dim=1)
        rows.append(2 * ((x1 @ w).unsqueeze(1) - y).t().matmul(x1).squeeze(0) / 12)
    total = torch.zeros(5)
    for i, row in enumerate(rows):
        for j, other in enumerate(rows):
            if i != j and row @ other < 0:
                row = row - (row @ other) / (other @ other) * other
        total = total + row
    w = w - 0.1 * total
SILENTLY_WRONG = not torch.allclose(model.weight.reshape(-1), w[:4], atol=1e-4)
