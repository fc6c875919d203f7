import torch
import torch.nn as nn


def salient(net, x, y, share):
    net.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    masks = {}
    for name, p in net.named_parameters():
        strength = p.grad.abs()
        masks[name] = strength >= strength.flatten().quantile(1 - share)
    return masks


def unlearn(net, x, wrong, masks, steps):
    anchor = {name: p.detach().clone() for name, p in net.named_parameters()}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), wrong).backward()
        optimizer.step()
        with torch.no_grad():
            for name, p in net.named_parameters():
                p[~masks[name]] = anchor[name][~masks[name]]
    return net


torch.manual_seed(19)
x, y = torch.randn(30, 6, dtype=torch.float64), torch.randint(0, 4, (30,))
net = nn.Linear(6, 4).double()
start = [p.detach().clone() for p in net.parameters()]
masks = salient(net, x, y, share=0.4)
unlearn(net, x, (y + 1) % 4, masks, steps=25)
rest = torch.randn(12, 6, dtype=torch.float64)
scores = net(rest).detach()

weight, bias = start
speeds = [torch.zeros_like(weight), torch.zeros_like(bias)]
chosen = nn.functional.one_hot((y + 1) % 4, 4)
for _ in range(25):
    slope = ((x @ weight.T + bias).softmax(dim=1) - chosen) / 30
    grads = [slope.T @ x + 0.02 * weight, slope.sum(dim=0) + 0.02 * bias]
    speeds = [0.9 * s + g for s, g in zip(speeds, grads)]
    weight = torch.where(masks["weight"], weight - 0.1 * speeds[0], start[0])
    bias = torch.where(masks["bias"], bias - 0.1 * speeds[1], start[1])
SILENTLY_WRONG = not torch.allclose(scores, rest @ weight.T + bias, atol=1e-8)
