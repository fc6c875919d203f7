import torch
import torch.nn as nn


def rotate(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    rotated = torch.empty_like(x)
    rotated[..., 0::2] = even * cos - odd * sin
    rotated[..., 1::2] = even * sin + odd * cos
    return rotated


torch.manual_seed(0)
angle = torch.arange(5.0).unsqueeze(1) / torch.tensor([1.0, 10.0])
qk = nn.Linear(4, 8)
q, k = qk(torch.randn(2, 5, 4)).chunk(2, dim=-1)
q, k = rotate(q, angle.cos(), angle.sin()), rotate(k, angle.cos(), angle.sin())
scores = q @ k.transpose(1, 2)
scores += torch.full((5, 5), -1e9).triu(1)
scores.softmax(-1).pow(2).sum().backward()
