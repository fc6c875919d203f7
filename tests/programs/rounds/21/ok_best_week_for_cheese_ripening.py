from copy import deepcopy

import torch
from torch import nn


class RipenessFit:
    def __init__(self, model, rate, patience):
        self.model, self.patience = model, patience
        self.optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        self.best_state, self.best_error = deepcopy(model.state_dict()), float("inf")
        self.errors = []

    def step(self, smell, age):
        self.optimizer.zero_grad()
        (self.model(smell) - age).abs().mean().backward()
        self.optimizer.step()

    @torch.no_grad()
    def check(self, smell, age):
        error = (self.model(smell) - age).abs().mean().item()
        self.errors.append(error)
        if error < self.best_error:
            self.best_error = error
            self.best_state = deepcopy(self.model.state_dict())
        return len(self.errors) - self.errors.index(self.best_error) <= self.patience

    def run(self, train, held_out, limit):
        for _ in range(limit):
            self.step(*train)
            if not self.check(*held_out):
                break
        self.model.load_state_dict(self.best_state)
        return self.model


torch.manual_seed(5)
smell = torch.randn(36, 20)
age = smell[:, :3].sum(dim=1, keepdim=True) + torch.randn(36, 1)
train, held_out = (smell[:18], age[:18]), (smell[18:], age[18:])
model = nn.Sequential(nn.Linear(20, 24), nn.ReLU(), nn.Linear(24, 1))
fit = RipenessFit(model, rate=0.02, patience=15)
best = fit.run(train, held_out, limit=100)
with torch.no_grad():
    found = (best(held_out[0]) - held_out[1]).abs().mean().item()
print("weeks", len(fit.errors), "best error", min(fit.errors), "last error", fit.errors[-1])

SILENTLY_WRONG = abs(found - min(fit.errors)) > 1e-6
