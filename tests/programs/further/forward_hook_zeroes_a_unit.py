import torch
import torch.nn as nn


def ablate(unit):
    def hook(module, args, output):
        output[:, unit] = 0.0

    return hook


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 1))
handle = net[1].register_forward_hook(ablate(2))
loss = net(torch.randn(5, 3)).mean()
handle.remove()
loss.backward()
