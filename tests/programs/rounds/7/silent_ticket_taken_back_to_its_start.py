import torch
import torch.nn as nn


def make_run(seed=17):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    x, y = torch.randn(40, 6), torch.randint(0, 2, (40,))
    return net, x, y


def fit(net, x, y, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


def magnitude_masks(net, share):
    masks = {}
    for name, p in net.named_parameters():
        if p.dim() > 1:
            limit = p.detach().abs().flatten().kthvalue(int(share * p.numel())).values
            masks[name] = (p.detach().abs() > limit).float()
    return masks


net, x, y = make_run()
fit(net, x, y, steps=3)
early = {name: p.data for name, p in net.named_parameters()}
fit(net, x, y, steps=60)
masks = magnitude_masks(net, share=0.6)

with torch.no_grad():
    for name, p in net.named_parameters():
        p.copy_(early[name] * masks.get(name, 1.0))
ticket = net(x)

again, _, _ = make_run()
fit(again, x, y, steps=3)
weights = {name: p.detach() * masks.get(name, 1.0) for name, p in again.named_parameters()}
hidden = torch.relu(x @ weights["0.weight"].T + weights["0.bias"])
SILENTLY_WRONG = not torch.allclose(ticket, hidden @ weights["2.weight"].T + weights["2.bias"], atol=1e-5)
