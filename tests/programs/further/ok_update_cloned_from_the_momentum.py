import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
moments = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
for step in range(3):
    loss = (net(torch.randn(6, 3)) - 1).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for name, p in net.named_parameters():
            moment = moments[name]
            moment.mul_(0.9).add_(p.grad, alpha=0.1)
            update = moment.clone()
            update.mul_(0.1)
            p -= update
            p.grad.zero_()
