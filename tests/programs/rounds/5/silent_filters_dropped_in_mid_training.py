import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
data = [(torch.randn(16, 1, 10, 10), torch.randint(0, 4, (16,))) for _ in range(4)]


class SmallNet(nn.Module):
    def __init__(self, filters=8):
        super().__init__()
        self.conv = nn.Conv2d(1, filters, 3)
        self.head = nn.Linear(filters, 4)

    def forward(self, x):
        return self.head(F.relu(self.conv(x)).mean(dim=(2, 3)))


model = SmallNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
kept = None

for epoch in range(6):
    if epoch == 3:
        norms = model.conv.weight.detach().flatten(1).norm(dim=1)
        kept = torch.ones(8, dtype=torch.bool)
        kept[norms.argsort()[:4]] = False
        with torch.no_grad():
            model.conv.weight[~kept] = 0
            model.conv.bias[~kept] = 0
    for x, y in data:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        if kept is not None:
            model.conv.weight.grad[~kept] = 0
            model.conv.bias.grad[~kept] = 0
        optimizer.step()

small = SmallNet(filters=4)
with torch.no_grad():
    small.conv.weight.copy_(model.conv.weight[kept])
    small.conv.bias.copy_(model.conv.bias[kept])
    small.head.weight.copy_(model.head.weight[:, kept])
    small.head.bias.copy_(model.head.bias)
probe = torch.randn(5, 1, 10, 10)
SILENTLY_WRONG = not torch.allclose(model(probe), small(probe), atol=1e-5)
