import math

import torch
from torch import nn


def geometric_transform(pose, similarity=False):
    scale_x, scale_y, theta, shear, move_x, move_y = (part.squeeze(-1) for part in pose.split(1, -1))
    scale_x, scale_y = torch.sigmoid(scale_x) + 1e-2, torch.sigmoid(scale_y) + 1e-2
    theta, shear = torch.sigmoid(theta), torch.tanh(shear * 5.0)
    move_x, move_y = torch.tanh(move_x * 5.0), torch.tanh(move_y * 5.0)
    theta *= 2.0 * math.pi
    cosine, sine = torch.cos(theta), torch.sin(theta)
    if similarity:
        rows = [scale_x * cosine, -scale_x * sine, move_x, scale_x * sine, scale_x * cosine, move_y]
    else:
        rows = [scale_x * cosine + shear * scale_y * sine, -scale_x * sine + shear * scale_y * cosine, move_x]
        rows += [scale_y * sine, scale_y * cosine, move_y]
    return torch.stack(rows, -1)


torch.manual_seed(2)
encoder = nn.Sequential(nn.Linear(6, 10), nn.ELU(), nn.Linear(10, 4 * 6))
poses = encoder(torch.randn(3, 6)).view(3, 4, 6)
grids = geometric_transform(poses)
loss = (grids - torch.randn(3, 4, 6)).abs().mean()
loss.backward()
