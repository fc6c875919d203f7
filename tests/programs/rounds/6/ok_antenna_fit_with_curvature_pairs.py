from collections import deque

import torch


class CurvatureDescent:
    def __init__(self, x, keep):
        self.x, self.pairs = x, deque(maxlen=keep)
        self.old_x, self.old_g = None, None

    def direction(self, gradient):
        q, used = gradient.clone(), []
        for s, y in reversed(self.pairs):
            a = s.dot(q) / y.dot(s)
            q.sub_(a * y)
            used.append(a)
        if self.pairs:
            s, y = self.pairs[-1]
            q.mul_(s.dot(y) / y.dot(y))
        for (s, y), a in zip(self.pairs, reversed(used)):
            q.add_((a - y.dot(q) / y.dot(s)) * s)
        return q.neg_()

    @torch.no_grad()
    def step(self, gradient, hessian):
        if self.old_x is not None:
            self.pairs.append((self.x - self.old_x, gradient - self.old_g))
        self.old_x, self.old_g = self.x.clone(), gradient.clone()
        d = self.direction(gradient)
        self.x.add_(d, alpha=(-gradient.dot(d) / d.dot(hessian @ d)).item())


torch.manual_seed(643)
root = torch.randn(6, 6, dtype=torch.float64)
hessian, pull = root @ root.t() + torch.eye(6), torch.randn(6, dtype=torch.float64)
fit = CurvatureDescent(torch.zeros(6, dtype=torch.float64), 8)
for _ in range(6):
    residual = hessian @ fit.x - pull
    if residual.norm() > 1e-12:
        fit.step(residual, hessian)
SILENTLY_WRONG = not torch.allclose(fit.x, torch.linalg.solve(hessian, pull), atol=1e-7)
