import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(6, 4)
for _ in range(2):
    out = net(x)
    tasks = []
    for k in range(2):
        optimizer.zero_grad()
        (out[:, k] - k).pow(2).mean().backward(retain_graph=True)
        tasks.append(torch.cat([p.grad.flatten() for p in net.parameters()]).clone())
    overlap = torch.dot(tasks[0], tasks[1])
    if overlap < 0:
        tasks[0] -= overlap / tasks[1].pow(2).sum() * tasks[1]
    merged = tasks[0] + tasks[1]
    start, grads = 0, [p.grad for p in net.parameters()]
    for g in grads:
        g.copy_(merged[start : start + g.numel()].view_as(g))
        start += g.numel()
    torch._foreach_mul_(grads, 0.5)
    optimizer.step()
