import torch
from torch import nn


class Grader(nn.Module):
    """A small trunk and one head for each mark."""

    def __init__(self, features, marks):
        super().__init__()
        self.marks = marks
        self.heads = nn.ModuleList([nn.Linear(features, 1)] * len(marks))

    def forward(self, x):
        return {mark: head(x).squeeze(1) for mark, head in zip(self.marks, self.heads)}


def train(model, x, target, steps=200):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for _ in range(steps):
        graded = model(x)
        loss = sum((graded[mark] - target[mark]).square().mean() for mark in target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(14)
x = torch.randn(80, 4)
rule = {
    "colour": torch.tensor([1.0, 0.2, 0.0, -0.5]),
    "firmness": torch.tensor([-0.4, 0.9, 0.3, 0.0]),
    "size": torch.tensor([0.1, 0.0, 1.2, 0.6]),
}
target = {mark: x @ w + 0.1 * torch.randn(80) for mark, w in rule.items()}
model = Grader(4, list(rule))
train(model, x, target)
with torch.no_grad():
    graded = model(x)
errors = {mark: float((graded[mark] - target[mark]).square().mean()) for mark in rule}
print("squared errors", errors)

design = torch.cat([x, torch.ones(80, 1)], dim=1)
expected = {mark: design @ torch.linalg.lstsq(design, target[mark][:, None]).solution for mark in rule}
SILENTLY_WRONG = not all(torch.allclose(graded[m], expected[m].squeeze(1), atol=0.02) for m in rule)
