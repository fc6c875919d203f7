import torch
import torch.nn as nn


class Average:
    def __init__(self, net, rate):
        self.rate = rate
        self.shadow = {k: p.data for k, p in net.named_parameters()}

    def update(self, net):
        for k, p in net.named_parameters():
            self.shadow[k].mul_(1 - self.rate).add_(p.data, alpha=self.rate)


torch.manual_seed(0)
net = nn.Linear(3, 1)
average = Average(net, 0.1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(4, 3)).square().mean().backward()
opt.step()
stepped = net.weight.detach().clone()
average.update(net)
SILENTLY_WRONG = not torch.equal(net.weight.detach(), stepped)
