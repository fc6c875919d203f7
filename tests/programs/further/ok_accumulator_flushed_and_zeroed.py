import torch
import torch.nn as nn


class Meter:
    def __init__(self):
        self.total, self.count = torch.zeros(()), 0

    def add(self, value):
        self.total += value.detach()
        self.count += 1


torch.manual_seed(0)
net, meter = nn.Linear(3, 1), Meter()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
window, reports = torch.zeros(2), []
for step in range(6):
    loss = (net(torch.randn(4, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    meter.add(loss)
    window += torch.stack([loss.detach(), torch.ones(())])
    if step % 3 == 2:
        reports.append(window.clone())
        window.zero_()
mean = meter.total / meter.count
