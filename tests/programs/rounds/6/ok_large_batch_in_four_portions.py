import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, portions, limit):
        self.model, self.portions, self.limit = model, portions, limit
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, x, y):
        logged = torch.zeros(())
        for px, py in zip(x.chunk(self.portions), y.chunk(self.portions)):
            loss = nn.functional.l1_loss(self.model(px), py) / self.portions
            loss.backward()
            logged += loss.detach()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.limit)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        return logged


torch.manual_seed(638)
model = nn.Linear(7, 1)
w = torch.cat([model.weight, model.bias.unsqueeze(0)], dim=1).detach().clone()
trainer = Trainer(model, 4, 0.5)
batches = [(torch.randn(32, 7), torch.randn(32, 1)) for _ in range(9)]
losses = [trainer.step(x, y) for x, y in batches]

expected = []
for x, y in batches:
    x1 = torch.cat([x, torch.ones(32, 1)], dim=1)
    error = x1 @ w.t() - y
    expected.append(error.abs().mean())
    grad = error.sign().t() @ x1 / 32
    w = w - 0.1 * grad * min(1.0, 0.5 / (grad.norm().item() + 1e-6))
SILENTLY_WRONG = not (torch.allclose(torch.stack(losses), torch.stack(expected), atol=1e-5)
                      and torch.allclose(model.weight, w[:, :7], atol=1e-5))
