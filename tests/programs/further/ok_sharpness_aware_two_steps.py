import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(inplace=True), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(2):
    (net(x) - y).pow(2).mean().backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        moves = [0.05 * p.grad / norm for p in net.parameters()]
        for p, e in zip(net.parameters(), moves):
            p.add_(e)
    optimizer.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    with torch.no_grad():
        for p, e in zip(net.parameters(), moves):
            p.sub_(e)
    optimizer.step()
    optimizer.zero_grad()
