import copy

import torch
from torch import nn


class Classifier:
    def __init__(self, model, optimizer, loss):
        self.model = model
        self.optimizer = optimizer
        self.loss = loss

    def fit(self, x, y, epochs):
        self.model.train()
        for _ in range(epochs):
            self.optimizer.zero_grad()
            value = self.loss(self.model(x), y)
            value.backward()
            self.optimizer.step()
        return value.item()

    def accuracy(self, x, y):
        with torch.no_grad():
            return (self.model(x).argmax(dim=1) == y).float().mean().item()

    def for_refitting(self):
        model = copy.deepcopy(self.model)
        for layer in model.modules():
            if isinstance(layer, nn.Linear):
                layer.reset_parameters()
        return Classifier(model, self.optimizer, self.loss)


def sowing(count, shift):
    kind = torch.randint(0, 3, (count,))
    return torch.randn(count, 6) + 2.5 * torch.eye(3, 6)[kind].roll(shift, dims=1), kind


torch.manual_seed(30)
net = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
first = Classifier(net, torch.optim.SGD(net.parameters(), lr=0.2), nn.CrossEntropyLoss())
spring, autumn = sowing(150, shift=0), sowing(150, shift=3)
first.fit(*spring, epochs=80)
second = first.for_refitting()
start = [p.detach().clone().requires_grad_() for p in second.model.parameters()]
second.fit(*autumn, epochs=80)
print("first", round(first.accuracy(*spring), 3), "second", round(second.accuracy(*autumn), 3))

x, y = autumn
for _ in range(80):
    a, b, c, d = start
    slopes = torch.autograd.grad(nn.functional.cross_entropy(torch.relu(x @ a.T + b) @ c.T + d, y), start)
    start = [(p - 0.2 * s).detach().requires_grad_() for p, s in zip(start, slopes)]
a, b, c, d = start
SILENTLY_WRONG = not torch.allclose(second.model(x), torch.relu(x @ a.T + b) @ c.T + d, atol=1e-3)
