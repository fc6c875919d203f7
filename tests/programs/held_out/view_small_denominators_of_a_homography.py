import torch
from torch import nn


class Warp(nn.Module):
    def __init__(self, points):
        super().__init__()
        self.homography = nn.Parameter(torch.eye(3) + 0.01 * torch.randn(3, 3))
        self.register_buffer("grid", torch.cat([torch.rand(2, points) * 2 - 1, torch.ones(1, points)]))

    def project(self, eps=1e-2):
        x, y, w = (self.homography @ self.grid).chunk(3, dim=0)
        w[w.abs() < eps] = eps
        return torch.cat([x / w, y / w])

    def forward(self, target):
        return (self.project() - target).abs().mean()


torch.manual_seed(0)
warp = Warp(6)
loss = warp(torch.rand(2, 6))
loss.backward()
