import torch
import torch.nn as nn


def make_grid(tensor):
    for t in tensor:
        low, high = float(t.min()), float(t.max())
        t.sub_(low).div_(high - low + 1e-5)
    return torch.cat(list(tensor), dim=-1)


torch.manual_seed(0)
conv = nn.Conv2d(1, 3, 3)
image = torch.randn(1, 1, 5, 5)
reference = conv(image).detach()

with torch.no_grad():
    grid = make_grid(conv.weight)
out = conv(image)
SILENTLY_WRONG = not torch.allclose(out, reference)
