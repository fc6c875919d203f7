import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
x, y = torch.randn(8, 4), torch.randn(8, 2)
losses = []
with torch.autocast("cpu", dtype=torch.bfloat16):
    for step in range(3):
        loss = (net(x) - y).float().square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
SILENTLY_WRONG = losses[0] == losses[-1]
