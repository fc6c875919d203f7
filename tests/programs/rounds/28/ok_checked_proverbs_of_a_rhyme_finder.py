import torch
from torch import nn


def one_pass(finder, optimizer, lines, ends, train):
    finder.train(train)
    total = 0.0
    for x, y in zip(lines.split(5), ends.split(5), strict=True):
        loss = (finder(x).squeeze(1) - y).square().mean()
        total += loss.item()
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return total


torch.manual_seed(55)
lines = torch.randn(30, 3)
ends = lines @ torch.tensor([0.5, 1.0, -1.0])
finder = nn.Linear(3, 1, bias=False)
w = finder.weight.detach()[0].clone()
optimizer = torch.optim.SGD(finder.parameters(), lr=0.05)
for _ in range(3):
    one_pass(finder, optimizer, lines[:20], ends[:20], train=True)
    dev = one_pass(finder, optimizer, lines[20:], ends[20:], train=False)
print("loss on proverbs not learnt", dev)

for _ in range(3):
    for k in range(0, 20, 5):
        x, y = lines[k : k + 5], ends[k : k + 5]
        w = w - 0.1 * (x @ w - y) @ x / 5
fair = (lines[20:] @ w - ends[20:]).square().mean() * 2
SILENTLY_WRONG = not torch.allclose(torch.tensor(dev), fair, atol=1e-4)
