import torch
from torch import nn


class SureLoss:
    """Cross entropy in which every picture counts by how sure the net is of its name."""

    def __init__(self, floor=1e-4):
        self.floor = floor

    def __call__(self, logits, names):
        log_p = logits.log_softmax(dim=1).gather(1, names[:, None]).squeeze(1)
        weight = log_p.exp().clamp(min=self.floor)
        return -(weight * log_p).mean()


def train(net, pictures, names, steps, lr):
    criterion = SureLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(net(pictures), names)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


torch.manual_seed(12)
pictures = torch.randn(80, 5)
names = (pictures @ torch.randn(5, 4)).argmax(dim=1)
net = nn.Linear(5, 4)
w, b = net.weight.detach().clone(), net.bias.detach().clone()
losses = train(net, pictures, names, steps=40, lr=0.5)
print("loss before and after", losses[0], losses[-1])

truth = nn.functional.one_hot(names, 4).float()
for _ in range(40):
    p = torch.softmax(pictures @ w.T + b, dim=1)
    slope = (p * truth).sum(dim=1, keepdim=True) * (p - truth) / len(p)
    w, b = w - 0.5 * slope.T @ pictures, b - 0.5 * slope.sum(dim=0)
SILENTLY_WRONG = not torch.allclose(net.weight, w, atol=1e-4)
