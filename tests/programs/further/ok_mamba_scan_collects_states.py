import torch
import torch.nn as nn
import torch.nn.functional as F


class SelectiveScan(nn.Module):
    def __init__(self, width, state):
        super().__init__()
        self.in_proj = nn.Linear(width, 2 * width)
        self.x_proj = nn.Linear(width, 2 * state + 1)
        self.A_log = nn.Parameter(torch.log(torch.arange(1.0, state + 1)).repeat(width, 1))
        self.D = nn.Parameter(torch.ones(width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x):
        u, gate = self.in_proj(x).chunk(2, dim=-1)
        u = F.silu(u)
        delta, B, C = self.x_proj(u).split([1, self.A_log.shape[1], self.A_log.shape[1]], dim=-1)
        dA = torch.exp(F.softplus(delta).unsqueeze(-1) * -torch.exp(self.A_log))
        dBu = (F.softplus(delta) * u).unsqueeze(-1) * B.unsqueeze(2)
        h, ys = torch.zeros_like(dBu[:, 0]), []
        for t in range(u.shape[1]):
            h = dA[:, t] * h + dBu[:, t]
            ys.append((h * C[:, t].unsqueeze(1)).sum(-1))
        y = torch.stack(ys, dim=1) + u * self.D
        return self.out_proj(y * F.silu(gate))


torch.manual_seed(0)
block = SelectiveScan(4, 3)
block(torch.randn(2, 6, 4)).pow(2).mean().backward()
