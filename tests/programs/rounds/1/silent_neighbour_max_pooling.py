import torch
import torch.nn as nn


class MaxPoolConv(nn.Module):
    """Node update from the elementwise maximum over incoming messages."""

    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.message = nn.Linear(in_dim, out_dim)
        self.update = nn.Linear(in_dim + out_dim, out_dim)

    def aggregate(self, messages, dst, num_nodes):
        index = dst.unsqueeze(-1).expand_as(messages)
        out = messages.new_zeros(num_nodes, messages.size(1))
        out.scatter_reduce_(0, index, messages, reduce="amax")
        return out

    def forward(self, x, edge_index):
        src, dst = edge_index
        pooled = self.aggregate(self.message(x)[src], dst, x.size(0))
        return self.update(torch.cat([x, pooled], dim=-1))


torch.manual_seed(1)
num_nodes = 6
src = torch.arange(num_nodes).repeat_interleave(2)
dst = (src + torch.tensor([1, 2]).repeat(num_nodes)) % num_nodes
edge_index = torch.stack([src, dst])
x = torch.randn(num_nodes, 5)
conv = MaxPoolConv(5, 8)

with torch.no_grad():
    out = conv(x, edge_index)
    messages = conv.message(x)
    rows = [messages[src[dst == i]].max(dim=0).values for i in range(num_nodes)]
    expected = conv.update(torch.cat([x, torch.stack(rows)], dim=-1))

SILENTLY_WRONG = not torch.allclose(out, expected, atol=1e-5)
