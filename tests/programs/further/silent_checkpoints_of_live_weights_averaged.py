import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
kept, honest = [], []
for epoch in range(3):
    opt.zero_grad()
    (net(x) - y).square().mean().backward()
    opt.step()
    kept.append({k: v for k, v in net.state_dict().items()})
    honest.append(net.weight.detach().clone())
average = torch.stack([state["weight"] for state in kept]).mean(0)
SILENTLY_WRONG = not torch.allclose(average, torch.stack(honest).mean(0))
