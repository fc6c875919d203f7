import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 4)
x, y = torch.rand(2, 4), torch.rand(2, 4)
with torch.no_grad():
    pred = net(x)
    honest = (pred - y).abs().mean().item()
    picture = pred.detach()
    picture.mul_(255).clamp_(0, 255)
    error = (pred - y).abs().mean().item()
SILENTLY_WRONG = abs(error - honest) > 1e-3
