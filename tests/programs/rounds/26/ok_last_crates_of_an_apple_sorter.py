import torch
import torch.nn as nn


def sort_apples(net, crates, threshold, rate):
    """One pass over crates of different size; a step after at least `threshold` apples."""
    opt = torch.optim.SGD(net.parameters(), lr=rate)
    waiting, steps = 0, 0
    for k, (colour, sweetness) in enumerate(crates):
        loss = (net(colour).squeeze(1) - sweetness).square().sum() / threshold
        loss.backward()
        waiting += len(colour)
        if waiting >= threshold or k == len(crates) - 1:
            opt.step()
            opt.zero_grad()
            waiting, steps = 0, steps + 1
    return steps


torch.manual_seed(29)
crates = []
for n in [7, 12, 5, 9, 14, 6, 8, 11, 4, 3]:
    colour = torch.rand(n, 3, dtype=torch.float64)
    crates.append((colour, 8 + 4 * colour[:, 0] - colour[:, 2]))
net = nn.Linear(3, 1).double()
w, b = net.weight.detach()[0].clone(), net.bias.detach().clone()
steps = sort_apples(net, crates, threshold=20, rate=0.1)
print(steps, "steps, weights", net.weight.tolist())

for first, last in [(0, 3), (3, 5), (5, 8), (8, 10)]:
    x = torch.cat([c for c, _ in crates[first:last]])
    y = torch.cat([s for _, s in crates[first:last]])
    miss = x @ w + b - y
    w, b = w - 0.01 * x.T @ miss, b - 0.01 * miss.sum()
SILENTLY_WRONG = steps != 4 or not torch.allclose(net.weight[0], w)
