import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(12, 3), torch.randn(12, 1)
running = torch.zeros(())
curve, honest = [], []
for epoch in range(4):
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    running += loss.detach()
    curve.append(running)
    honest.append(running.item())
points = [value.item() for value in curve]
SILENTLY_WRONG = points != honest
