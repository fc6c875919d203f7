import torch
import torch.nn as nn


def accumulate(net, portions, criterion):
    losses, total = [], None
    for signs, kinds in portions:
        loss = criterion(net(signs), kinds) / len(portions)
        loss.backward()
        losses.append(loss.detach())
        if total is None:
            total = losses[0]
        else:
            total += losses[-1]
    return losses, total


def train(net, portions, epochs):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    hardest, curve = [], []
    for _ in range(epochs):
        optimizer.zero_grad()
        losses, total = accumulate(net, portions, criterion)
        hardest.append(int(torch.stack(losses).argmax()))
        curve.append(float(total))
        optimizer.step()
    return hardest, curve


torch.manual_seed(88)
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
portions = [(torch.randn(8, 10) + step, torch.randint(0, 4, (8,))) for step in range(5)]
begin = {name: value.clone() for name, value in net.state_dict().items()}
hardest, curve = train(net, portions, epochs=12)

net.load_state_dict(begin)
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
expected = []
for _ in range(12):
    values = [nn.functional.cross_entropy(net(signs), kinds) for signs, kinds in portions]
    expected.append(max(range(5), key=lambda number: values[number].item()))
    optimizer.zero_grad()
    (sum(values) / 5).backward()
    optimizer.step()
SILENTLY_WRONG = hardest != expected
