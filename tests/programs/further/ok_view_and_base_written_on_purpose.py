import torch
import torch.nn as nn

torch.manual_seed(0)
conv = nn.Conv2d(1, 2, 3, padding=1)
brightness = torch.ones(2, requires_grad=True)
image = conv(torch.randn(1, 1, 4, 4))
flat = image.view(2, -1)
flat.mul_(brightness[:, None])
crop = image[:, :, 1:3, 1:3]
crop.add_(1.0)
image[:, 0].clamp_(-1, 1)
rows = image.transpose(2, 3)
rows[..., 0] = 0.0
loss = image.tanh().mean() + flat.sum() * 0.1
loss.backward()
assert brightness.grad is not None
