import torch
from torch.autograd.functional import jacobian


def profile(p, r):
    return p[0] * torch.exp(-p[1] * r) + p[2] * torch.cos(p[3] * r)


class Damped:
    def __init__(self, residual, start, damping=1e-4):
        self.residual, self.p, self.damping = residual, start, damping
        self.loss = residual(start).square().sum()

    def step(self, trials=6):
        slopes, miss = jacobian(self.residual, self.p), self.residual(self.p)
        normal, slope = slopes.T @ slopes, slopes.T @ miss
        scale, inside = normal.diagonal().clone(), 0.0
        for _ in range(trials):
            normal.diagonal().add_(scale, alpha=self.damping - inside)
            inside = self.damping
            trial = self.p - torch.linalg.solve(normal, slope)
            loss = self.residual(trial).square().sum()
            if loss < self.loss:
                self.p, self.loss = trial, loss
                self.damping *= 0.3
                return
            self.damping *= 4.0


def fit(r, height, start, steps):
    solver = Damped(lambda p: profile(p, r) - height, start)
    for _ in range(steps):
        solver.step()
    return solver.p


torch.manual_seed(6)
r = torch.linspace(0, 4, 40, dtype=torch.float64)
height = profile(torch.tensor([1.5, 0.9, 0.4, 2.1]), r) + 0.02 * torch.randn(40)
start = torch.tensor([0.5, 3.0, 0.1, 1.2], dtype=torch.float64)
found = fit(r, height, start, steps=6)

p, damping = start, 1e-4
for _ in range(6):
    decay, wave = torch.exp(-p[1] * r), p[3] * r
    columns = [decay, -p[0] * r * decay, torch.cos(wave), -p[2] * r * torch.sin(wave)]
    table, miss = torch.stack(columns, dim=1), profile(p, r) - height
    for _ in range(6):
        normal = table.T @ table
        trial = p - torch.linalg.solve(normal + damping * torch.diag(normal.diag()), table.T @ miss)
        better = (profile(trial, r) - height).square().sum() < miss.square().sum()
        damping = damping * (0.3 if better else 4.0)
        if better:
            p = trial
            break
SILENTLY_WRONG = not torch.allclose(found, p, atol=1e-6)
