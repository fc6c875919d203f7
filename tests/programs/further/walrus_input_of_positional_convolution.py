import torch
import torch.nn as nn

torch.manual_seed(0)
proj = nn.Conv1d(3, 4, 1)
pos_conv = nn.Conv1d(4, 4, 3, padding=1, groups=2)
frames = torch.randn(2, 3, 6)

if (x := proj(frames)).shape[-1] > 1:
    x_conv = pos_conv(x)
    x += x_conv
loss = x.pow(2).mean()
loss.backward()
