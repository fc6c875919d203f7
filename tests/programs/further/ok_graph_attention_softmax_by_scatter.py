import torch
import torch.nn as nn


class GAT(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.lin, self.att = nn.Linear(d_in, d), nn.Linear(2 * d, 1)

    def forward(self, x, edges):
        src, dst = edges
        h = self.lin(x)
        alpha = nn.functional.leaky_relu_(self.att(torch.cat([h[src], h[dst]], 1)).squeeze(1), 0.2)
        top = torch.full((len(x),), -1e9).scatter_reduce_(0, dst, alpha.detach(), "amax")
        alpha = (alpha - top[dst]).exp_()
        total = torch.zeros(len(x)).index_add_(0, dst, alpha)
        alpha = alpha / total[dst].add_(1e-9)
        return torch.zeros_like(h).index_add_(0, dst, alpha.unsqueeze(1) * h[src])


torch.manual_seed(0)
edges = torch.tensor([[0, 1, 2, 3, 0, 2], [1, 0, 1, 2, 3, 0]])
one, two = GAT(3, 4), GAT(4, 2)
out = two(one(torch.randn(4, 3), edges).relu_(), edges)
nn.functional.cross_entropy(out, torch.tensor([0, 1, 1, 0])).backward()
