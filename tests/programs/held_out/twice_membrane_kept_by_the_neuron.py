import torch
from torch import nn


class Leaky(nn.Module):
    def __init__(self, beta=0.9):
        super().__init__()
        self.beta, self.mem = beta, None

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.beta * self.mem + current
        return torch.sigmoid(5 * (self.mem - 1.0))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), Leaky(), nn.Linear(5, 2), Leaky())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in torch.rand(2, 4, 3):
    spikes = sum(net(batch) for _ in range(3))
    loss = nn.functional.cross_entropy(spikes, torch.tensor([0, 1, 1, 0]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
