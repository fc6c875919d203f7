import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 4), torch.randn(8, 1)

before = [p.detach() for p in net.parameters()]
loss = (net(x) - y).pow(2).mean()
loss.backward()
honest = 0.1 * torch.cat([p.grad.flatten() for p in net.parameters()]).norm()
optimizer.step()
moved = torch.cat([(p.detach() - b).flatten() for p, b in zip(net.parameters(), before)]).norm()
SILENTLY_WRONG = not torch.allclose(moved, honest, atol=1e-5)
