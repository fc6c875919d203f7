import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def resume(self, checkpoint):
        self.model.load_state_dict(checkpoint["model"], assign=True)

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
x, y = torch.randn(20, 5), torch.randn(20, 1)
weight, bias = torch.randn(1, 5), torch.zeros(1)
checkpoint = {"model": {"weight": weight.clone(), "bias": bias.clone()}, "epoch": 3}

trainer = Trainer(nn.Linear(5, 1), lr=0.1)
trainer.resume(checkpoint)
final = trainer.fit(x, y, epochs=10)

w, b = weight.clone().requires_grad_(), bias.clone().requires_grad_()
for _ in range(10):
    expected = nn.functional.mse_loss(x @ w.t() + b, y)
    gw, gb = torch.autograd.grad(expected, (w, b))
    with torch.no_grad():
        w, b = (w - 0.1 * gw).requires_grad_(), (b - 0.1 * gb).requires_grad_()
SILENTLY_WRONG = abs(final - expected.item()) > 1e-4
