import torch
import torch.nn as nn


def adjacency(edge_index, num_nodes):
    adj = torch.zeros(num_nodes, num_nodes)
    adj[edge_index[0], edge_index[1]] = 1.0
    adj[edge_index[1], edge_index[0]] = 1.0
    return adj


def normalise(adj, self_loops=True):
    if self_loops:
        torch.diag(adj).fill_(1.0)
    inv_sqrt = adj.sum(1).clamp(min=1.0).rsqrt()
    return inv_sqrt.unsqueeze(1) * adj * inv_sqrt.unsqueeze(0)


class GCN(nn.Module):
    def __init__(self, in_dim, hidden, classes):
        super().__init__()
        self.lin1 = nn.Linear(in_dim, hidden)
        self.lin2 = nn.Linear(hidden, classes)

    def forward(self, x, adj):
        x = torch.relu(adj @ self.lin1(x))
        return adj @ self.lin2(x)


torch.manual_seed(0)
edge_index = torch.tensor([[0, 0, 1, 3, 4], [1, 2, 3, 4, 5]])
x = torch.randn(6, 5)
model = GCN(5, 8, 2)
with torch.no_grad():
    logits = model(x, normalise(adjacency(edge_index, 6)))

    full = adjacency(edge_index, 6) + torch.eye(6)
    scale = full.sum(1).rsqrt()
    expected = model(x, torch.diag(scale) @ full @ torch.diag(scale))

SILENTLY_WRONG = not torch.allclose(logits, expected, atol=1e-5)
