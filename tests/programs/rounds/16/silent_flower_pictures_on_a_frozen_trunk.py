import torch
import torch.nn as nn


class FlowerNet(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Tanh(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.classifier = nn.Linear(16, kinds)
        for p in self.trunk.parameters():
            p.requires_grad = False

    def forward(self, pictures):
        return self.classifier(self.trunk(pictures))


def train(net, loader, epochs):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.classifier.parameters(), lr=0.1)
    losses = []
    for _ in range(epochs):
        running = 0.0
        for pictures, kinds in loader:
            loss = criterion(net(pictures), kinds)
            loss.backward()
            optimizer.step()
            running += loss.item()
        losses.append(running / len(loader))
    return losses


torch.manual_seed(6)
loader = [(torch.rand(8, 1, 6, 6), torch.randint(0, 3, (8,))) for _ in range(4)]
net = FlowerNet(3)
weight, bias = [p.detach().clone() for p in net.classifier.parameters()]
losses = train(net, loader, epochs=6)

expected = []
for _ in range(6):
    running = 0.0
    for pictures, kinds in loader:
        features = net.trunk(pictures)
        chance = (features @ weight.T + bias).softmax(dim=1)
        hit = chance[torch.arange(8), kinds]
        running -= hit.log().mean().item()
        slope = (chance - nn.functional.one_hot(kinds, 3)) / 8
        weight, bias = weight - 0.1 * slope.T @ features, bias - 0.1 * slope.sum(dim=0)
    expected.append(running / 4)
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(losses, expected)) > 1e-4
