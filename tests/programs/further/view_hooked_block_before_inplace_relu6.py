import torch
import torch.nn as nn

torch.manual_seed(0)
stem = nn.Conv2d(1, 4, 3, padding=1)
block = nn.Sequential(nn.ReLU6(inplace=True), nn.Conv2d(4, 2, 1))
grads = []
block.register_full_backward_hook(lambda module, grad_in, grad_out: grads.append(grad_in[0]))

x = stem(torch.randn(1, 1, 4, 4))
y = block(x)
y.mean().backward()
