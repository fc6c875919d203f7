import torch
import torch.nn as nn


def normalize_(batch, mean, std):
    return batch.sub_(mean).div_(std)


def erase_(batch, size):
    for image in batch:
        top, left = torch.randint(0, 4 - size + 1, (2,)).tolist()
        image[:, top : top + size, left : left + size] = 0


torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    batch = torch.rand(3, 1, 4, 4)
    normalize_(batch, 0.5, 0.25)
    erase_(batch, 2)
    loss = net(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
