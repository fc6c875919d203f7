import torch
from torch import nn

torch.manual_seed(0)


class RoadLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, junctions, roads, signals):
        start, end = roads
        messages = torch.relu(self.message(junctions[start]))
        inbox = torch.zeros_like(junctions)
        inbox.index_add_(0, end, messages)
        degree = torch.bincount(end, minlength=len(junctions)).clamp_(min=1)
        inbox /= degree[:, None]
        where = signals.nonzero().squeeze(1)
        inbox[where] += 1.0
        return self.norm(junctions + inbox)


roads = torch.tensor([[0, 1, 2, 3, 4, 0, 2], [1, 0, 1, 1, 0, 3, 4]])
signals = torch.tensor([True, False, True, False, False])
layers = nn.ModuleList(RoadLayer(6) for _ in range(2))
junctions = torch.randn(5, 6)
out = junctions
for layer in layers:
    out = layer(out, roads, signals)
out.sum().backward()

adjacency = torch.zeros(5, 5)
for a, b in roads.t().tolist():
    adjacency[b, a] += 1
expected = junctions
for layer in layers:
    mean = adjacency @ torch.relu(layer.message(expected)) / adjacency.sum(1, keepdim=True).clamp(min=1)
    expected = layer.norm(expected + mean + signals[:, None].float())
SILENTLY_WRONG = not torch.allclose(out, expected, atol=1e-5)
