import copy

import torch
from torch import nn


class FieldGuide(nn.Module):
    """Reads the measures of cap and stem and scores the kinds of mushroom."""

    def __init__(self, kinds):
        super().__init__()
        self.cap = nn.Linear(3, 8)
        self.stem = nn.Linear(2, 8)
        self.scores = nn.Linear(8, kinds)

    def forward(self, cap, stem):
        return self.scores(torch.tanh(self.cap(cap) + self.stem(stem)))


def make_optimizer(guide, lr):
    parameters = []
    params = {"lr": lr, "params": []}
    for name, p in guide.named_parameters():
        if name.startswith(("cap", "stem")):
            params["params"].append(p)
    parameters.append(params)
    params = {"lr": 5 * lr, "params": []}
    for name, p in guide.named_parameters():
        if name.startswith("scores"):
            params["params"].append(p)
    return torch.optim.SGD(parameters)


torch.manual_seed(2)
cap, stem = torch.randn(60, 3), torch.randn(60, 2)
kind = (cap[:, 0] + stem[:, 1] > 0).long() + (cap[:, 2] > 1).long()
guide = FieldGuide(3)
check = copy.deepcopy(guide)
optimizer = make_optimizer(guide, lr=0.1)
for _ in range(25):
    optimizer.zero_grad()
    nn.functional.cross_entropy(guide(cap, stem), kind).backward()
    optimizer.step()
print("weights of the scores", guide.scores.weight.tolist())

for _ in range(25):
    loss = nn.functional.cross_entropy(check(cap, stem), kind)
    for p, g in zip(check.parameters(), torch.autograd.grad(loss, list(check.parameters())), strict=True):
        p.data -= (0.5 if p is check.scores.weight or p is check.scores.bias else 0.1) * g
SILENTLY_WRONG = not torch.allclose(guide(cap, stem), check(cap, stem), atol=1e-4)
