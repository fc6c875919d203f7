import torch
import torch.nn as nn


def by_length(lines, longest):
    """Batches of lines of like length, as many as fit into a page of the given width."""
    batches, batch = [], []
    for line in sorted(lines, key=len):
        if batch and (len(batch) + 1) * len(line) > longest:
            batches.append(batch)
            batch = []
        batch.append(line)
    return batches + [batch]


def encode(batch):
    counts = torch.zeros(len(batch), 6)
    for row, line in zip(counts, batch):
        row += torch.bincount(line, minlength=6) / len(line)
    years = torch.tensor([float(line[0]) + 0.1 * len(line) for line in batch])
    return counts, years


def read_register(net, lines, threshold, rate):
    """One pass over the register; a step after every `threshold` lines or more."""
    opt = torch.optim.SGD(net.parameters(), lr=rate)
    waiting = 0
    for batch in by_length(lines, longest=60):
        counts, years = encode(batch)
        loss = (net(counts).squeeze(1) - years).square().sum() / threshold
        loss.backward()
        waiting += len(batch)
        if waiting >= threshold:
            opt.step()
            opt.zero_grad()
            waiting = 0
    return net


torch.manual_seed(28)
lines = [torch.randint(0, 6, (int(n),)) for n in torch.randint(3, 20, (70,))]
net = nn.Linear(6, 1)
w, b = net.weight.detach()[0].clone(), net.bias.detach().clone()
read_register(net, lines, threshold=24, rate=0.1)
print("weights", net.weight.tolist())

groups, group = [], []
for batch in by_length(lines, longest=60):
    group = group + batch
    if len(group) >= 24:
        groups.append(group)
        group = []
for lines_ in groups + [group]:
    x, y = encode(lines_)
    miss = x @ w + b - y
    w, b = w - 0.1 * 2 * x.T @ miss / 24, b - 0.1 * 2 * miss.sum() / 24
SILENTLY_WRONG = not torch.allclose(net.weight[0], w, atol=1e-4)
