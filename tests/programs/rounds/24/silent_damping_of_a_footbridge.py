import copy

import torch
from torch import nn


class Damper(nn.Module):
    """Force of the damper under a footbridge from its motion, step by step."""

    def __init__(self, hidden, depth):
        super().__init__()
        self.hidden = hidden
        self.enter = nn.Linear(1, hidden)
        self.cells = []
        for _ in range(depth):
            self.cells.append(nn.LSTMCell(hidden, hidden))
        self.leave = nn.Linear(hidden, 1)

    def forward(self, motion):
        state = [(torch.zeros(len(motion), self.hidden),) * 2 for _ in self.cells]
        forces = []
        for x in motion.unbind(dim=1):
            h = self.enter(x.unsqueeze(1))
            for i, cell in enumerate(self.cells):
                state[i] = cell(h, state[i])
                h = state[i][0]
            forces.append(self.leave(h))
        return torch.cat(forces, dim=1)


def train(damper, motion, force, steps, lr):
    opt = torch.optim.SGD(damper.parameters(), lr=lr)
    for _ in range(steps):
        opt.zero_grad()
        loss = (damper(motion) - force).pow(2).mean()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(10)
motion = torch.randn(8, 10).cumsum(dim=1) * 0.3
force = -0.5 * torch.cat([motion[:, :1], motion.diff(dim=1)], dim=1)
damper = Damper(hidden=6, depth=2)
other = copy.deepcopy(damper)
loss = train(damper, motion, force, steps=25, lr=0.3)
print("loss", loss)

parts = [other.enter, other.cells[0], other.cells[1], other.leave]
params = [p for part in parts for p in part.parameters()]
for _ in range(25):
    last = (other(motion) - force).pow(2).mean()
    for p, g in zip(params, torch.autograd.grad(last, params)):
        p.data = p.data - 0.3 * g
SILENTLY_WRONG = abs(loss - last.item()) > 1e-6
