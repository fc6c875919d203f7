import torch
import torch.nn as nn


class Average:
    def __init__(self, net, rate):
        self.rate = rate
        self.shadow = {k: p.detach().clone() for k, p in net.named_parameters()}

    @torch.no_grad()
    def update(self, net):
        for k, p in net.named_parameters():
            self.shadow[k].mul_(1 - self.rate).add_(p, alpha=self.rate)

    @torch.no_grad()
    def swap(self, net):
        for k, p in net.named_parameters():
            kept = p.detach().clone()
            p.copy_(self.shadow[k])
            self.shadow[k].copy_(kept)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1))
average = Average(net, 0.1)
opt = torch.optim.AdamW(net.parameters(), lr=0.1)
for x in torch.randn(3, 4, 3):
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
    average.update(net)
average.swap(net)
valid = net(torch.randn(4, 3)).mean().item()
average.swap(net)
