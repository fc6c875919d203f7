import torch
from torch import nn


class EWC:
    def __init__(self, strength):
        self.strength, self.saved, self.importance = strength, {}, {}

    def after_slope(self, model, x, y):
        model.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        for name, param in model.named_parameters():
            self.saved[name] = param.detach().clone()
            self.importance[name] = param.grad.square() + 0.02

    def penalty(self, model):
        penalty = 0.0
        for name, saved_param in self.saved.items():
            cur_param = model.get_parameter(name)[:len(saved_param)]
            penalty = penalty + (self.importance[name] * (cur_param - saved_param).pow(2)).sum()
        return self.strength * penalty


def fit(model, ewc, x, y, steps=30):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for _ in range(steps):
        optimizer.zero_grad()
        (nn.functional.cross_entropy(model(x), y) + ewc.penalty(model)).backward()
        optimizer.step()


torch.manual_seed(35)
north, south = torch.randn(50, 4, dtype=torch.float64), torch.randn(50, 4, dtype=torch.float64)
calls, later = (north[:, 0] > 0).long(), 2 + (south[:, 1] > 0).long()
ewc, narrow = EWC(strength=8.0), nn.Linear(4, 2).double()
fit(narrow, ewc, north, calls)
ewc.after_slope(narrow, north, calls)
model = nn.Linear(4, 4).double()
with torch.no_grad():
    model.weight[:2].copy_(narrow.weight)
    model.bias[:2].copy_(narrow.bias)
w, b = [p.detach().clone() for p in model.parameters()]
fit(model, ewc, south, later)
print("moved away by", float((model.weight[:2] - narrow.weight).detach().abs().max()))

old_w, old_b = [p.detach().clone() for p in narrow.parameters()]
imp_w, imp_b = ewc.importance.values()
one_hot = torch.eye(4, dtype=torch.float64)[later]
for _ in range(30):
    miss = (torch.softmax(south @ w.T + b, dim=1) - one_hot) / 50
    slope_w, slope_b = miss.T @ south, miss.sum(dim=0)
    slope_w = slope_w + torch.cat([16 * imp_w * (w[:2] - old_w), torch.zeros(2, 4, dtype=torch.float64)])
    slope_b = slope_b + torch.cat([16 * imp_b * (b[:2] - old_b), torch.zeros(2, dtype=torch.float64)])
    w, b = w - 0.2 * slope_w, b - 0.2 * slope_b
SILENTLY_WRONG = not torch.allclose(model.weight, w, atol=1e-8)
