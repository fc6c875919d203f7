import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
proj, gate_fc = nn.Linear(4, 4), nn.Linear(4, 4)


def gated(x, keep):
    gate = torch.sigmoid(gate_fc(x))
    gate *= keep
    return proj(x) * gate


x = torch.randn(3, 4, requires_grad=True)
keep = (torch.rand(3, 4) > 0.5).float()
out = checkpoint(gated, x, keep, use_reentrant=True)
out.sum().backward()
