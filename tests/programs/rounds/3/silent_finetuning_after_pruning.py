import copy

import torch
from torch import nn

torch.manual_seed(0)


class Regressor(nn.Module):
    def __init__(self, inputs=5, hidden=16):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


@torch.no_grad()
def shrink(model, keep):
    strength = model.fc1.weight.norm(dim=1) * model.fc2.weight.norm(dim=0)
    units = strength.topk(keep).indices
    fc1 = nn.Linear(model.fc1.in_features, keep)
    fc2 = nn.Linear(keep, 1)
    fc1.weight.copy_(model.fc1.weight[units])
    fc1.bias.copy_(model.fc1.bias[units])
    fc2.weight.copy_(model.fc2.weight[:, units])
    fc2.bias.copy_(model.fc2.bias)
    model.fc1, model.fc2 = fc1, fc2


def epochs(model, optimizer, x, y, n):
    for _ in range(n):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


x = torch.randn(64, 5)
y = x[:, :1] * x[:, 1:2]
model = Regressor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
epochs(model, optimizer, x, y, 40)
shrink(model, keep=6)
pruned = copy.deepcopy(model)
epochs(model, optimizer, x, y, 40)

epochs(pruned, torch.optim.SGD(pruned.parameters(), lr=0.1), x, y, 40)
expected = pruned(x)
SILENTLY_WRONG = not torch.allclose(model(x), expected, atol=1e-5)
