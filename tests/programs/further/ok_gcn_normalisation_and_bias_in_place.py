import torch
import torch.nn as nn


class GCNConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x, edges):
        row, col = edges
        x = self.lin(x)
        degree = torch.zeros(len(x)).scatter_add_(0, col, torch.ones(len(col)))
        inverse = degree.pow(-0.5)
        inverse[inverse == float("inf")] = 0
        norm = inverse[row] * inverse[col]
        out = torch.zeros_like(x)
        out.index_add_(0, col, norm.unsqueeze(1) * x[row])
        out += self.bias
        return out


torch.manual_seed(0)
edges = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 2]])
conv1, conv2 = GCNConv(3, 4), GCNConv(4, 2)
out = conv2(torch.relu_(conv1(torch.randn(5, 3), edges)), edges)
out.pow(2).mean().backward()
