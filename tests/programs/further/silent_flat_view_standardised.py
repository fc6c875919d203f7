import torch
import torch.nn as nn

torch.manual_seed(0)
image = torch.randn(4, 4) * 3
net = nn.Linear(4, 1)
with torch.no_grad():
    honest = net(image).mean().item()
    flat = image.view(-1)
    flat -= flat.min()
    flat /= flat.max()
    histogram = torch.histc(flat, bins=4)
    out = net(image).mean().item()
SILENTLY_WRONG = abs(out - honest) > 1e-3
