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
honest = (0.5 * left + 0.5 * left.mean()) @ (0.5 * right + 0.5 * right.mean())
a = smooth(left)
b = smooth(right)
similarity = a @ b
SILENTLY_WRONG = abs(similarity.item() - honest.item()) > 1e-5
