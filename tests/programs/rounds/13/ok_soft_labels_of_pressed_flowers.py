import torch
import torch.nn as nn
import torch.nn.functional as F


class SoftLabels(nn.Module):
    def __init__(self, classes, smoothing):
        super().__init__()
        self.classes, self.smoothing, self.goal = classes, smoothing, None

    def forward(self, logs, labels):
        goal = torch.empty_like(logs.data)
        goal.fill_(self.smoothing / (self.classes - 1))
        goal.scatter_(1, labels.data.unsqueeze(1), 1.0 - self.smoothing)
        self.goal = goal
        return F.kl_div(logs, goal, reduction="batchmean")


class Herbarium(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.read = nn.Linear(features, classes)

    def forward(self, x):
        return F.log_softmax(self.read(x), dim=1)


def train(net, criterion, batches, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    sureness = []
    for x, labels in batches:
        optimizer.zero_grad()
        logs = net(x)
        criterion(logs, labels).backward()
        optimizer.step()
        sureness.append(logs.data.exp_().amax(dim=1).mean())
    return torch.stack(sureness)


torch.manual_seed(238)
batches = [(torch.randn(16, 5), torch.randint(0, 4, (16,))) for _ in range(6)]
net = Herbarium(5, 4)
weight, bias = net.read.weight.detach().clone(), net.read.bias.detach().clone()
sureness = train(net, SoftLabels(4, 0.1), batches, 0.3)

expected = []
for x, labels in batches:
    goal = torch.full((16, 4), 0.1 / 3) + F.one_hot(labels, 4) * (0.9 - 0.1 / 3)
    chances = (x @ weight.T + bias).softmax(dim=1)
    expected.append(chances.max(dim=1).values.mean())
    slope = (chances - goal) / 16
    weight, bias = weight - 0.3 * slope.T @ x, bias - 0.3 * slope.sum(dim=0)
right = torch.allclose(sureness, torch.stack(expected), atol=1e-5)
SILENTLY_WRONG = not (right and torch.allclose(net.read.weight, weight, atol=1e-5))
