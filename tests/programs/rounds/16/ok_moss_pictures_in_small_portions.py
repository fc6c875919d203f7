import torch
import torch.nn as nn


class MossNet(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Tanh(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.trunk.requires_grad_(False)
        self.classifier = nn.Linear(16, kinds)

    def forward(self, pictures):
        return self.classifier(self.trunk(pictures))


def train(net, loader, epochs, portions):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.classifier.parameters(), lr=0.2)
    losses = []
    for _ in range(epochs):
        running = 0.0
        for i, (pictures, kinds) in enumerate(loader):
            loss = criterion(net(pictures), kinds) / portions
            loss.backward()
            running += loss.item() * portions
            if (i + 1) % portions == 0:
                optimizer.step()
                optimizer.zero_grad(set_to_none=False)
        losses.append(running / len(loader))
    return losses


torch.manual_seed(6)
loader = [(torch.rand(8, 1, 6, 6), torch.randint(0, 3, (8,))) for _ in range(6)]
net = MossNet(3)
weight, bias = [p.detach().clone() for p in net.classifier.parameters()]
losses = train(net, loader, epochs=4, portions=3)

expected = []
for _ in range(4):
    running = 0.0
    for first in (0, 3):
        features = torch.cat([net.trunk(p) for p, _ in loader[first:first + 3]])
        kinds = torch.cat([k for _, k in loader[first:first + 3]])
        chance = (features @ weight.T + bias).softmax(dim=1)
        running -= chance[torch.arange(24), kinds].log().mean().item()
        slope = (chance - nn.functional.one_hot(kinds, 3)) / 24
        weight, bias = weight - 0.2 * slope.T @ features, bias - 0.2 * slope.sum(dim=0)
    expected.append(running / 2)
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(losses, expected)) > 1e-4
