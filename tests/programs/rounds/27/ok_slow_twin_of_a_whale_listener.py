import copy

import torch
from torch import nn


@torch.no_grad()
def follow(slow, net, momentum):
    for p, q in zip(slow.parameters(), net.parameters()):
        p.lerp_(q, 1 - momentum)
    for p, q in zip(slow.buffers(), net.buffers()):
        p.copy_(q)


torch.manual_seed(42)
calls = 5 + 3 * torch.randn(200, 4)
pod = (calls @ torch.tensor([1.0, -1.0, 0.5, 0.0]) > 2.5).long()
net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 2))
slow = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
record = [[p.detach().clone() for p in net.parameters()]]
for epoch in range(6):
    for rows in torch.randperm(200).split(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(calls[rows]), pod[rows]).backward()
        optimizer.step()
        follow(slow, net, momentum=0.8)
        record.append([p.detach().clone() for p in net.parameters()])
slow.eval()
with torch.no_grad():
    scores = slow(calls)
print("right calls", float((scores.argmax(dim=1) == pod).float().mean()))

mean = record[0]
for weights in record[1:]:
    mean = [0.8 * m + 0.2 * w for m, w in zip(mean, weights)]
w1, b1, g, s, w2, b2 = mean
h = (calls @ w1.T + b1 - net[1].running_mean) / (net[1].running_var + net[1].eps).sqrt() * g + s
SILENTLY_WRONG = not torch.allclose(scores, torch.tanh(h) @ w2.T + b2, atol=1e-3)
