import torch
import torch.nn as nn


def accumulate(net, portions):
    losses, total = [], None
    for sites, counts in portions:
        loss = nn.functional.poisson_nll_loss(net(sites).squeeze(1), counts)
        (loss / len(portions)).backward()
        losses.append(loss.detach())
        if total is None:
            total = losses[0].clone()
        else:
            total += losses[-1]
    return losses, total


def train(net, portions, epochs):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    hardest, means = [], []
    for _ in range(epochs):
        optimizer.zero_grad()
        losses, total = accumulate(net, portions)
        hardest.append(int(torch.stack(losses).argmax()))
        means.append(total / len(portions))
        optimizer.step()
    return hardest, torch.stack(means)


torch.manual_seed(188)
net = nn.Linear(5, 1)
begin = {name: value.clone() for name, value in net.state_dict().items()}
portions = [(torch.randn(10, 5), torch.poisson(torch.full((10,), 1.0 + step))) for step in range(4)]
hardest, means = train(net, portions, epochs=10)

net.load_state_dict(begin)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
right, averages = [], []
for _ in range(10):
    values = [nn.functional.poisson_nll_loss(net(sites).squeeze(1), counts) for sites, counts in portions]
    right.append(max(range(4), key=lambda number: values[number].item()))
    averages.append(sum(values).item() / 4)
    optimizer.zero_grad()
    (sum(values) / 4).backward()
    optimizer.step()
SILENTLY_WRONG = hardest != right or not torch.allclose(means, torch.tensor(averages), atol=1e-4)
