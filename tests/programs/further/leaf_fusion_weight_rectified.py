import torch
import torch.nn as nn


class Fuse(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(inputs))
        self.act = nn.ReLU(inplace=True)

    def forward(self, maps):
        w = self.act(self.weight)
        w = w / (w.sum() + 1e-4)
        return sum(wi * m for wi, m in zip(w, maps))


torch.manual_seed(0)
fuse = Fuse(2)
out = fuse([torch.randn(1, 3, 4), torch.randn(1, 3, 4)])
out.mean().backward()
