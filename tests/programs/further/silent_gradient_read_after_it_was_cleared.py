import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.randn(4, 3)).square().mean().backward()
grad = net.weight.grad
honest = grad.norm().item()
opt.step()
opt.zero_grad(set_to_none=False)
size = grad.norm().item()
SILENTLY_WRONG = size != honest
