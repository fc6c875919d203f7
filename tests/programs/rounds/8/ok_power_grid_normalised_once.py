import torch
import torch.nn as nn


def normalised(lines):
    lines = lines.coalesce()
    row, column = lines.indices()
    value = lines.values().clone()
    degree = torch.zeros(lines.shape[0]).index_add_(0, row, value)
    scale = degree.clamp_(min=1e-12).rsqrt_()
    value.mul_(scale[row]).mul_(scale[column])
    return torch.sparse_coo_tensor(lines.indices(), value, lines.shape, check_invariants=True)


class GridNet(nn.Module):
    def __init__(self, lines):
        super().__init__()
        self.lines = normalised(lines)
        self.first = nn.Linear(3, 6)
        self.second = nn.Linear(6, 1)

    def forward(self, load):
        hidden = torch.sparse.mm(self.lines, self.first(load)).relu_()
        return torch.sparse.mm(self.lines, self.second(hidden))


torch.manual_seed(853)
strength = torch.rand(8, 8) * (torch.rand(8, 8) < 0.5)
strength = strength + strength.T + torch.eye(8)
lines, load = strength.to_sparse(), torch.randn(8, 3)
nets = [GridNet(lines) for _ in range(2)]
with torch.no_grad():
    outputs = torch.stack([net(load) for net in nets])
    scale = strength.sum(dim=1).rsqrt()
    dense = scale[:, None] * strength * scale
    expected = torch.stack([dense @ net.second(torch.relu(dense @ net.first(load))) for net in nets])
SILENTLY_WRONG = not (torch.allclose(outputs, expected, atol=1e-5) and torch.equal(lines.to_dense(), strength))
