import torch
import torch.nn as nn
import torch.nn.functional as F


class FoldedMixup:
    """Mixes the first half of a batch with the second half, and the other way round."""

    def __init__(self, classes, alpha=0.4, seed=0):
        self.classes = classes
        self.generator = torch.Generator().manual_seed(seed)
        self.alpha = alpha

    def share(self):
        draw = torch.rand(1, generator=self.generator).item()
        return 0.5 + 0.5 * draw ** self.alpha

    def mix(self, batch, share):
        first, second = batch.chunk(2)
        first.mul_(share).add_(second, alpha=1 - share)
        second.mul_(share).add_(first, alpha=1 - share)
        return batch

    def __call__(self, images, labels):
        share = self.share()
        targets = F.one_hot(labels, self.classes).to(images.dtype)
        return self.mix(images.clone(), share), self.mix(targets, share)


def soft_loss(scores, targets):
    return -(targets * scores.log_softmax(dim=1)).sum(dim=1).mean()


def run(net, loader, mixup):
    total = 0.0
    for images, labels in loader:
        mixed, targets = mixup(images, labels)
        loss = soft_loss(net(mixed), targets)
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.1 * p.grad
        total += loss.item()
    return total / len(loader)


torch.manual_seed(1914)
net = nn.Sequential(nn.Flatten(), nn.Linear(27, 4)).double()
weight, bias = (p.detach().clone() for p in net.parameters())
leaves = [(torch.rand(8, 3, 3, 3).double(), torch.randint(0, 4, (8,))) for _ in range(5)]
average = run(net, leaves, FoldedMixup(4, seed=21))

losses, draws = [], torch.Generator().manual_seed(21)
for images, labels in leaves:
    share = 0.5 + 0.5 * torch.rand(1, generator=draws).item() ** 0.4
    flat, hot = images.flatten(1), torch.eye(4).double()[labels]
    partner = torch.tensor([4, 5, 6, 7, 0, 1, 2, 3])
    x = share * flat + (1 - share) * flat[partner]
    t = share * hot + (1 - share) * hot[partner]
    chance = (x @ weight.T + bias).softmax(dim=1)
    losses.append(-(t * chance.log()).sum() / 8)
    weight, bias = weight - 0.1 * (chance - t).T @ x / 8, bias - 0.1 * (chance - t).sum(dim=0) / 8
SILENTLY_WRONG = abs(average - torch.stack(losses).mean().item()) > 1e-9
