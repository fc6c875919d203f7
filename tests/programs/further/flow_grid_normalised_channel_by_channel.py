import torch
import torch.nn as nn


def warp(flow, height, width):
    ys, xs = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    vgrid = torch.stack([xs, ys]).float() + flow
    phase = torch.cos(vgrid[1])
    vgrid[:, 0] = 2.0 * vgrid[:, 0] / max(width - 1, 1) - 1.0
    return vgrid[0] * phase


torch.manual_seed(0)
net = nn.Conv2d(1, 2, 3, padding=1)
flow = net(torch.rand(1, 1, 4, 5))[0]
loss = warp(flow, 4, 5).pow(2).mean()
loss.backward()
