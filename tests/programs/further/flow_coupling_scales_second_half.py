import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Linear(d // 2, d)

    def forward(self, x):
        x1, x2 = torch.tensor_split(x, 2, dim=1)
        s, t = self.net(x1).unflatten(1, (2, -1)).unbind(1)
        x2.mul_(s.exp()).add_(t)
        return torch.cat([x1, x2], dim=1), s.sum(1)


torch.manual_seed(0)
base = nn.Linear(4, 4)
flow = Coupling(4)
z, logdet = flow(base(torch.randn(5, 4)))
(z.square().sum() - logdet.sum()).backward()
