import torch
import torch.nn as nn


def edge_softmax(scores, dst, num_nodes):
    index = dst.unsqueeze(-1).expand_as(scores)
    peak = scores.new_zeros(num_nodes, scores.size(1))
    peak.scatter_reduce_(0, index, scores.detach(), reduce="amax", include_self=False)
    weight = scores - peak[dst]
    weight = weight.exp()
    total = scores.new_zeros(num_nodes, scores.size(1))
    total.index_add_(0, dst, weight)
    return weight / total[dst]


class GraphAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.value = nn.Linear(dim, dim)
        self.score = nn.Linear(2 * dim, heads)

    def forward(self, x, edge_index):
        src, dst = edge_index
        scores = self.score(torch.cat([x[src], x[dst]], dim=-1))
        alpha = edge_softmax(scores, dst, x.size(0))
        v = self.value(x)[src].view(len(src), self.heads, -1)
        out = torch.zeros(x.size(0), self.heads, v.size(-1))
        out.index_add_(0, dst, alpha.unsqueeze(-1) * v)
        return out.flatten(1)


torch.manual_seed(0)
x = torch.randn(5, 8)
edge_index = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2], [1, 2, 3, 4, 0, 2, 3, 4]])
layer = GraphAttention(8, 2)
out = layer(x, edge_index)
out.square().mean().backward()

with torch.no_grad():
    src, dst = edge_index
    rows = []
    for n in range(5):
        into = (dst == n).nonzero().flatten()
        raw = layer.score(torch.cat([x[src[into]], x[n].expand(len(into), -1)], dim=-1))
        v = layer.value(x[src[into]]).view(len(into), 2, 4)
        rows.append((raw.softmax(0).unsqueeze(-1) * v).sum(0).flatten())
    expected = torch.stack(rows)
SILENTLY_WRONG = not torch.allclose(out, expected, atol=1e-5)
