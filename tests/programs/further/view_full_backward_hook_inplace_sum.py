import torch
import torch.nn as nn

torch.manual_seed(0)
norm, fc = nn.LayerNorm(4), nn.Linear(4, 4)
norms = []
fc.register_full_backward_hook(lambda module, grad_in, grad_out: norms.append(grad_out[0].norm().item()))
x = torch.randn(3, 4)

y = fc(norm(x))
y += x
y.pow(2).mean().backward()
