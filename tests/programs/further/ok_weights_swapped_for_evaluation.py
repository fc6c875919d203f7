import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
average = {n: p.detach().clone() for n, p in net.named_parameters()}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    opt.zero_grad()
    (net(x) - y).square().mean().backward()
    opt.step()
    for n, p in net.named_parameters():
        average[n].mul_(0.9).add_(p.detach(), alpha=0.1)
    kept = {n: p.data for n, p in net.named_parameters()}
    for n, p in net.named_parameters():
        p.data = average[n]
    with torch.no_grad():
        score = (net(x) - y).square().mean()
    for n, p in net.named_parameters():
        p.data = kept[n]
