import torch
import torch.nn.functional as F
from torch import nn


class SelectiveScan(nn.Module):
    def __init__(self, width, states):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(width, states))
        self.project = nn.Linear(width, 2 * states + 1)
        self.skip = nn.Parameter(torch.ones(width))

    def forward(self, u):
        batch, length, width = u.shape
        step, into, out = self.project(u).split([1, self.decay.size(1), self.decay.size(1)], dim=-1)
        step = F.softplus(step)
        state = u.new_zeros(batch, width, self.decay.size(1))
        ys = []
        for t in range(length):
            state.mul_(torch.exp(-step[:, t, :, None] * self.decay))
            state.add_(step[:, t, :, None] * u[:, t, :, None] * into[:, t, None, :])
            ys.append((state * out[:, t, None, :]).sum(-1) + self.skip * u[:, t])
        return torch.stack(ys, dim=1)


torch.manual_seed(0)
scan = SelectiveScan(3, 2)
u = torch.randn(2, 4, 3)
loss = F.mse_loss(scan(u)[:, :-1], u[:, 1:])
loss.backward()
