import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
conv, a, b = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 2, 1), nn.Conv2d(3, 2, 3, padding=1)
x = conv(torch.randn(2, 1, 5, 5))
F.relu_(x)
left = F.relu(a(x), inplace=True)
right = F.leaky_relu_(b(x), 0.1)
out = torch.cat([left, right], dim=1)
out.pow(2).mean().backward()
