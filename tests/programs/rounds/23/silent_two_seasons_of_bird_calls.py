import torch
from torch import nn


class EWC:
    def __init__(self, strength):
        self.strength, self.saved, self.importance = strength, {}, {}

    def after_season(self, model, calls, species):
        model.zero_grad()
        nn.functional.cross_entropy(model(calls), species).backward()
        for name, param in model.named_parameters():
            self.saved[name] = param.detach().clone()
            self.importance[name] = param.grad.detach().square() + 0.05

    def penalty(self, model):
        penalty = 0.0
        for name, saved_param in self.saved.items():
            cur_param = model.get_parameter(name)
            n_units = saved_param.shape[0]
            cur_param = saved_param[:n_units]
            penalty = penalty + (self.importance[name] * (cur_param - saved_param).pow(2)).sum()
        return 0.5 * self.strength * penalty


def with_more_species(layer, count):
    wider = nn.Linear(layer.in_features, count).double()
    with torch.no_grad():
        wider.weight[:layer.out_features] = layer.weight
        wider.bias[:layer.out_features] = layer.bias
    return wider


def fit(model, ewc, calls, species, steps=40):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(steps):
        optimizer.zero_grad()
        (nn.functional.cross_entropy(model(calls), species) + ewc.penalty(model)).backward()
        optimizer.step()


torch.manual_seed(6)
spring, autumn = torch.randn(2, 60, 5, dtype=torch.float64)
first, second = spring[:, :3].argmax(1), 3 + autumn[:, 3:].argmax(1)
ewc, model = EWC(strength=20.0), nn.Linear(5, 3).double()
fit(model, ewc, spring, first)
ewc.after_season(model, spring, first)
model = with_more_species(model, 5)
w, b = [p.detach().clone() for p in model.parameters()]
fit(model, ewc, autumn, second)
print("spring calls still known", int((model(spring).argmax(1) == first).sum()))

old_w, old_b, imp_w, imp_b = w[:3], b[:3], *ewc.importance.values()
for _ in range(40):
    w, b = w.detach().requires_grad_(), b.detach().requires_grad_()
    logp = torch.log_softmax(autumn @ w.T + b, dim=1)
    held = (imp_w * (w[:3] - old_w) ** 2).sum() + (imp_b * (b[:3] - old_b) ** 2).sum()
    cost = 10 * held - logp[torch.arange(60), second].mean()
    w, b = [p - 0.3 * g for p, g in zip((w, b), torch.autograd.grad(cost, (w, b)))]
SILENTLY_WRONG = not torch.allclose(model.weight, w, atol=1e-8)
