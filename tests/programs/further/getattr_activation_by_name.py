import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, *sizes, act="sigmoid"):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(sizes, sizes[1:]))
        self.act = act

    def forward(self, x, scale=1.0):
        for layer in self.layers:
            x = getattr(torch, self.act)(layer(x))
            getattr(x, "mul_")(scale)
        return x


torch.manual_seed(0)
mlp = MLP(3, 5, 1)
mlp(torch.randn(4, 3), scale=0.5).sum().backward()
