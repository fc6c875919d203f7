import torch
from torch import nn


class NutGrader(nn.Module):
    def __init__(self, features, marks):
        super().__init__()
        template = nn.Linear(features, 1)
        with torch.no_grad():
            template.weight.zero_()
            template.bias.fill_(0.5)
        self.heads = nn.ModuleDict()
        for mark in marks:
            self.heads[mark] = nn.Linear(features, 1)
            self.heads[mark].load_state_dict(template.state_dict())

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads.values()], dim=1)


torch.manual_seed(37)
x = torch.randn(60, 3)
marks = ["shell", "taste", "colour", "weight"]
target = x @ torch.randn(3, 4) + torch.tensor([0.5, 1.0, 0.0, 2.0]) + 0.1 * torch.randn(60, 4)
model = NutGrader(3, marks)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(40):
    loss = (model(x) - target).square().mean(dim=0).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    error = (model(x) - target).square().mean(dim=0)
print(dict(zip(marks, error.tolist())))

expected = []
for k in range(4):
    w, b = torch.zeros(3), 0.5
    for _ in range(40):
        off = x @ w + b - target[:, k]
        w, b = w - 0.2 * (off[:, None] * x).mean(dim=0), b - 0.2 * float(off.mean())
    expected.append((x @ w + b - target[:, k]).square().mean())
SILENTLY_WRONG = not torch.allclose(error, torch.stack(expected), atol=1e-3)
