import torch
import torch.nn as nn

torch.manual_seed(0)
X, Y = torch.rand(12, 3) * 10, torch.randn(12, 1)
honest = (X[8:12].clone() - 5) / 2
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for i in range(0, 12, 4):
        xb, yb = X[i : i + 4], Y[i : i + 4]
        xb -= 5
        xb /= 2
        loss = (net(xb) - yb).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
SILENTLY_WRONG = not torch.allclose(xb, honest)
