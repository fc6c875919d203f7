import torch
import torch.nn as nn

torch.manual_seed(0)
enc = nn.Linear(4, 4)
clip = enc(torch.randn(3, 4))
first, second, third = clip.unbind(0)
clip.mul_(0.5)
motion = (second - first).abs().sum()
motion.backward()
