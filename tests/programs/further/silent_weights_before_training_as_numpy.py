import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
before = net.weight.detach().numpy()
honest = before.copy()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    opt.zero_grad()
    (net(x) - y).square().mean().backward()
    opt.step()
after = net.weight.detach().numpy()
change = np.abs(after - before).max()
SILENTLY_WRONG = change == 0 and not np.array_equal(honest, after)
