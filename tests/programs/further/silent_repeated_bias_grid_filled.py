import torch
import torch.nn as nn


class Whitening(nn.Module):
    def __init__(self, groups, width):
        super().__init__()
        self.register_buffer("running_wm", torch.eye(width).expand(groups, width, width))

    def update(self, group, matrix):
        self.running_wm[group] = 0.9 * self.running_wm[group] + 0.1 * matrix


torch.manual_seed(0)
norm = Whitening(3, 2)
norm.update(0, torch.full((2, 2), 4.0))
out = torch.randn(3, 5, 2) @ norm.running_wm
SILENTLY_WRONG = not torch.equal(norm.running_wm[1], torch.eye(2))
