import torch
from torch import nn


def make_optimizer(net, lr):
    groups = []
    for prefix, factor in (("leaf", 1.0), ("flower", 4.0)):
        params = {"lr": lr * factor, "params": []}
        for name, p in net.named_parameters():
            if name.startswith(prefix):
                params["params"].append(p)
        groups.append(params)
    return torch.optim.SGD(groups)


torch.manual_seed(31)
herbs = torch.randn(40, 3)
bitter = herbs @ torch.tensor([0.4, -1.0, 0.2]) + 1
net = nn.ModuleDict({"leaf": nn.Linear(3, 1, bias=False), "flower": nn.Linear(1, 1)})
a, s, c = net["leaf"].weight.detach()[0].clone(), net["flower"].weight.item(), net["flower"].bias.item()
optimizer = make_optimizer(net, lr=0.02)
for _ in range(15):
    optimizer.zero_grad()
    (net["flower"](net["leaf"](herbs)).squeeze(1) - bitter).square().mean().backward()
    optimizer.step()
print("offset", net["flower"].bias.item())

for _ in range(15):
    h = herbs @ a
    off = 2 * (s * h + c - bitter) / 40
    a, s, c = a - 0.02 * s * off @ herbs, s - 0.08 * (off @ h), c - 0.08 * off.sum()
SILENTLY_WRONG = not torch.allclose(net["leaf"].weight[0], a, atol=1e-4)
