import copy

import torch
import torch.nn as nn


class AverageHook:
    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.average = copy.deepcopy(model)

    @torch.no_grad()
    def after_step(self):
        for a, p in zip(self.average.parameters(), self.model.parameters()):
            a.lerp_(p, 1 - self.decay)

    @torch.no_grad()
    def swap(self):
        for a, p in zip(self.average.parameters(), self.model.parameters()):
            held = p.clone()
            p.copy_(a)
            a.copy_(held)


class Runner:
    def __init__(self, model):
        self.model, self.hook = model, AverageHook(model, 0.9)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

    def save(self, step):
        self.hook.swap()
        checkpoint = {"step": step, "weights": self.model.state_dict()}
        self.hook.swap()
        return checkpoint

    def run(self, x, y, steps):
        for step in range(steps):
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x).squeeze(1), y).backward()
            self.optimizer.step()
            self.hook.after_step()
        return self.save(steps)


torch.manual_seed(610)
ranker = nn.Linear(4, 1)
w, b = ranker.weight.detach().clone()[0], ranker.bias.detach().clone()
x, y = torch.randn(30, 4), torch.randn(30)
checkpoint = Runner(ranker).run(x, y, 20)

mw, mb = w.clone(), b.clone()
for _ in range(20):
    error = 2 * (x @ w + b - y) / 30
    w, b = w - 0.3 * (error @ x), b - 0.3 * error.sum()
    mw, mb = 0.9 * mw + 0.1 * w, 0.9 * mb + 0.1 * b
SILENTLY_WRONG = not torch.allclose(checkpoint["weights"]["weight"][0], mw, atol=1e-4)
