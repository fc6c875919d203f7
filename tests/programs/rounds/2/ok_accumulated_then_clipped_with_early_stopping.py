import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr, micro_batches, max_norm):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.micro_batches = micro_batches
        self.max_norm = max_norm
        self.best = [torch.empty_like(p) for p in model.parameters()]
        self.best_loss = torch.tensor(float("inf"))

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=False)
        for xb, yb in zip(x.chunk(self.micro_batches), y.chunk(self.micro_batches)):
            (nn.functional.mse_loss(self.model(xb), yb) / self.micro_batches).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimizer.step()

    @torch.no_grad()
    def validate(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        if loss < self.best_loss:
            self.best_loss.copy_(loss)
            torch._foreach_copy_(self.best, list(self.model.parameters()))
        return loss.item()


torch.manual_seed(0)
model, twin = nn.Linear(6, 2), nn.Linear(6, 2)
twin.load_state_dict(model.state_dict())
x, y = torch.randn(16, 6), torch.randn(16, 2)
x_val, y_val = torch.randn(16, 6), torch.randn(16, 2)
trainer = Trainer(model, lr=0.3, micro_batches=4, max_norm=0.5)
curve, weights = [], []
for epoch in range(8):
    trainer.step(x, y)
    curve.append(trainer.validate(x_val, y_val))

w, b = (p.detach() for p in twin.parameters())
for epoch in range(8):
    w, b = w.requires_grad_(), b.requires_grad_()
    gw, gb = torch.autograd.grad(nn.functional.mse_loss(x @ w.t() + b, y), (w, b))
    scale = min(1.0, 0.5 / torch.cat([gw.flatten(), gb]).norm().item())
    w, b = (w - 0.3 * scale * gw).detach(), (b - 0.3 * scale * gb).detach()
    weights.append(w)
expected = weights[min(range(8), key=curve.__getitem__)]
SILENTLY_WRONG = not torch.allclose(trainer.best[0], expected, atol=1e-5)
