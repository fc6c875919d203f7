import torch
import torch.nn as nn


def symmetric_norm(adjacency):
    adjacency = adjacency.coalesce()
    row, column = adjacency.indices()
    value = adjacency.values()
    degree = torch.zeros(adjacency.shape[0]).index_add_(0, row, value)
    scale = degree.clamp(min=1e-12).rsqrt()
    value.mul_(scale[row]).mul_(scale[column])
    return adjacency


class TradeConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, adjacency):
        return torch.sparse.mm(symmetric_norm(adjacency), self.linear(x))


class TradeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = TradeConv(4, 8)
        self.second = TradeConv(8, 2)

    def forward(self, x, adjacency):
        return self.second(torch.relu(self.first(x, adjacency)), adjacency)


torch.manual_seed(803)
volume = torch.rand(9, 9) * (torch.rand(9, 9) < 0.5) * 20
volume = volume + volume.T + torch.eye(9)
ports, routes = torch.randn(9, 4), volume.to_sparse()
net = TradeNet()
with torch.no_grad():
    output = net(ports, routes)
    scale = volume.sum(dim=1).rsqrt()
    dense = scale[:, None] * volume * scale[None, :]
    hidden = torch.relu(dense @ net.first.linear(ports))
    expected = dense @ net.second.linear(hidden)
SILENTLY_WRONG = not torch.allclose(output, expected, atol=1e-4)
