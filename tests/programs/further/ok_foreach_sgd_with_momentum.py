import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
params = list(net.parameters())
averaged = [p.detach().clone() for p in params]
optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9, foreach=True)
for step in range(3):
    loss = (net(torch.randn(6, 3)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        torch._foreach_lerp_(averaged, params, 0.1)
