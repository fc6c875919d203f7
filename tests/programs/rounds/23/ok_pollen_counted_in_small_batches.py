import torch
from torch import nn


class Trainer:
    """A step after every twenty slides; slides left at the end of an epoch wait for the next one."""

    def __init__(self, model, slides, grains, batch_size, nominal, lr):
        self.model = model
        self.loader = list(zip(slides.split(batch_size), grains.split(batch_size)))
        self.accumulate = max(round(nominal / batch_size), 1)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)

    def optimizer_step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def train(self, epochs):
        last_opt_step = -1
        self.optimizer.zero_grad()
        for epoch in range(epochs):
            self.model.train()
            for i, (x, y) in enumerate(self.loader):
                ni = i + len(self.loader) * epoch
                loss = nn.functional.mse_loss(self.model(x), y)
                (loss / self.accumulate).backward()
                if ni - last_opt_step >= self.accumulate:
                    self.optimizer_step()
                    last_opt_step = ni


torch.manual_seed(32)
slides = torch.randn(48, 5, dtype=torch.float64)
grains = slides @ torch.rand(5, 1, dtype=torch.float64) + 1.0
model = nn.Linear(5, 1).double()
w, b = model.weight.detach().clone()[0], model.bias.detach().clone()
Trainer(model, slides, grains, batch_size=4, nominal=20, lr=0.1).train(epochs=5)
print("weights", model.weight.tolist(), model.bias.tolist())

rows = torch.arange(48).repeat(5)
speed_w, speed_b = torch.zeros_like(w), torch.zeros_like(b)
for group in rows[:len(rows) // 20 * 20].split(20):
    x, y = slides[group], grains[group, 0]
    miss = x @ w + b - y
    speed_w = 0.5 * speed_w + 2 * (miss[:, None] * x).mean(dim=0)
    speed_b = 0.5 * speed_b + 2 * miss.mean()
    w, b = w - 0.1 * speed_w, b - 0.1 * speed_b
SILENTLY_WRONG = not (torch.allclose(model.weight[0], w, atol=1e-9) and torch.allclose(model.bias, b, atol=1e-9))
