import math

import torch
import torch.nn as nn


def init_weights(m):
    if isinstance(m, nn.Conv2d):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
        nn.init.zeros_(m.bias)
    elif isinstance(m, nn.BatchNorm2d):
        m.weight.data.fill_(1.0)
        m.bias.data.zero_()


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Conv2d(4, 6, 1))
net.apply(init_weights)
bias = net[3].bias.view(2, -1)
bias.data[:, 0] += math.log(0.01 / 0.99)
with torch.no_grad():
    net[0].weight[0] = torch.eye(3)
    nn.init.orthogonal_(net[3].weight)
net(torch.randn(2, 1, 5, 5)).mean().backward()
