import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
x = torch.randn(4, 3, requires_grad=True)
(grads,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
norm = grads.norm(2, dim=1, keepdim=True)
grads /= norm + 1e-6
loss = (norm - 1).square().mean() + grads[:, 0].mean()
loss.backward()
