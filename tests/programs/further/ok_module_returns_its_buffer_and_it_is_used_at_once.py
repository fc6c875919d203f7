import torch
import torch.nn as nn


class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("out", torch.zeros(4))

    def forward(self, x):
        self.out.copy_(0.5 * x + 0.5 * x.mean())
        return self.out


torch.manual_seed(0)
smooth = Smooth()
left, right = torch.randn(4), torch.randn(4)
a = smooth(left)
norm_a = a.norm()
b = smooth(right)
norm_b = b.norm()
c = smooth(left).clone()
d = smooth(right)
similarity = c @ d / (norm_a * norm_b)
