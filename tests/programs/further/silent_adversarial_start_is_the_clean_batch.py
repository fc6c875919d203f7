import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
with torch.no_grad():
    honest = nn.functional.cross_entropy(net(x), y).item()
x_adv = x.detach()
for step in range(3):
    probe = x_adv.clone().requires_grad_()
    nn.functional.cross_entropy(net(probe), y).backward()
    x_adv += 0.5 * probe.grad.sign()
with torch.no_grad():
    clean = nn.functional.cross_entropy(net(x), y).item()
    attacked = nn.functional.cross_entropy(net(x_adv), y).item()
SILENTLY_WRONG = abs(clean - honest) > 1e-4
