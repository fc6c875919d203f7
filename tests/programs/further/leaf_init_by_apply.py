import torch
import torch.nn as nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        bound = m.in_features**-0.5
        m.weight.uniform_(-bound, bound)
        m.bias.zero_()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
net.apply(init_weights)
print(net(torch.randn(2, 4)))
