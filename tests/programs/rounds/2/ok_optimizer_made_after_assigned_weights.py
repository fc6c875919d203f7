import copy
import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.lr = lr
        self.optimizer = None

    def resume(self, checkpoint):
        self.model.load_state_dict(copy.deepcopy(checkpoint["model"]), assign=True)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.lr)

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad(set_to_none=False)
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
x, y = torch.randn(20, 5), torch.randn(20, 1)
checkpoint = {"model": {"weight": torch.randn(1, 5), "bias": torch.zeros(1)}, "epoch": 3}
first = checkpoint["model"]["weight"].tolist()

trainer = Trainer(nn.Linear(5, 1), lr=0.1)
trainer.resume(checkpoint)
final = trainer.fit(x, y, epochs=10)
trainer.resume(checkpoint)
again = trainer.fit(x, y, epochs=10)

w, b = torch.tensor(first, requires_grad=True), torch.zeros(1, requires_grad=True)
for _ in range(10):
    expected = nn.functional.mse_loss(x @ w.t() + b, y)
    gw, gb = torch.autograd.grad(expected, (w, b))
    w, b = (w - 0.1 * gw).detach().requires_grad_(), (b - 0.1 * gb).detach().requires_grad_()
SILENTLY_WRONG = abs(final - expected.item()) > 1e-4 or abs(again - final) > 1e-6
