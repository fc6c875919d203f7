import torch
from torch import nn


class Trainer:
    """Counts seals on aerial pictures; a step is taken once enough pictures have been seen."""

    def __init__(self, model, pictures, counts, batch_size, nominal, lr):
        self.model = model
        self.loader = list(zip(pictures.split(batch_size), counts.split(batch_size)))
        self.accumulate = max(round(nominal / batch_size), 1)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def optimizer_step(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=10.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def train(self, epochs):
        nb = len(self.loader)
        last_opt_step = -1
        self.optimizer.zero_grad()
        for epoch in range(epochs):
            self.model.train()
            self.optimizer.zero_grad()
            for i, (x, y) in enumerate(self.loader):
                ni = i + nb * epoch
                loss = nn.functional.mse_loss(self.model(x), y) * len(x)
                loss.backward()
                if ni - last_opt_step >= self.accumulate:
                    self.optimizer_step()
                    last_opt_step = ni


torch.manual_seed(12)
pictures = torch.randn(56, 6, dtype=torch.float64)
counts = pictures @ torch.rand(6, 1, dtype=torch.float64) + 2.0
model = nn.Linear(6, 1).double()
w, b = model.weight.detach().clone()[0], model.bias.detach().clone()
trainer = Trainer(model, pictures, counts, batch_size=4, nominal=20, lr=0.004)
trainer.train(epochs=5)
print("weights", model.weight.tolist(), model.bias.tolist())

order = torch.arange(56).repeat(5)
for rows in order[:len(order) // 20 * 20].split(20):
    x, y = pictures[rows], counts[rows, 0]
    miss = x @ w + b - y
    slope_w, slope_b = 2 * (miss[:, None] * x).sum(dim=0), 2 * miss.sum().reshape(1)
    norm = (slope_w.square().sum() + slope_b.square().sum()).sqrt()
    shrink = (10.0 / (norm + 1e-6)).clamp(max=1.0)
    w, b = w - 0.004 * shrink * slope_w, b - 0.004 * shrink * slope_b
SILENTLY_WRONG = not torch.allclose(model.weight[0], w, atol=1e-9)
