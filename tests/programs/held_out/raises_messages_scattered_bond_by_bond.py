import torch
from torch import nn


class MessagePassing(nn.Module):
    def __init__(self, width, depth=3):
        super().__init__()
        self.inputs, self.update = nn.Linear(5, width), nn.Linear(width, width)
        self.depth = depth

    def forward(self, bonds, incoming):
        start = self.inputs(bonds)
        messages = torch.relu(start)
        for _ in range(self.depth):
            gathered = messages[incoming].sum(1)
            changed = torch.relu(start[1:] + self.update(gathered[1:]))
            messages[1:] = changed
        return messages


torch.manual_seed(7)
network = MessagePassing(4)
bonds = torch.randn(5, 5)
incoming = torch.tensor([[0, 0], [2, 3], [1, 0], [4, 1], [2, 0]])
readout = network(bonds, incoming).sum(0)
loss = torch.logsumexp(readout, 0)
loss.backward()
