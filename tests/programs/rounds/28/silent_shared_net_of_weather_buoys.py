import torch
from torch import nn


class Buoy:
    """Trains the one net on board of the ship with its own readings."""

    def __init__(self, net, x, y):
        self.net, self.x, self.y = net, x, y

    def train(self, content, lr=0.1, steps=3):
        self.net.load_state_dict(content)
        optimizer = torch.optim.SGD(self.net.parameters(), lr=lr)
        for _ in range(steps):
            optimizer.zero_grad()
            (self.net(self.x).squeeze(1) - self.y).square().mean().backward()
            optimizer.step()
        return {key: value.clone() for key, value in self.net.state_dict().items()}


class Ship:
    def __init__(self, net, buoys):
        self.net, self.buoys = net, buoys

    def one_round(self):
        content = self.net.state_dict()
        replies = [buoy.train(content) for buoy in self.buoys]
        merged = {key: sum(reply[key] for reply in replies) / len(replies) for key in content}
        self.net.load_state_dict(merged)


torch.manual_seed(23)
net = nn.Linear(2, 1)
data = [(x, x @ torch.tensor([t, -1.0]) + t) for t, x in ((1.0, torch.randn(20, 2)), (3.0, torch.randn(20, 2)))]
ship = Ship(net, [Buoy(net, x, y) for x, y in data])
w, b = net.weight.detach().squeeze(0).clone(), net.bias.detach().clone()
for _ in range(3):
    ship.one_round()
print("merged weights", net.weight.tolist(), net.bias.tolist())

for _ in range(3):
    sent = []
    for x, y in data:
        v, c = w, b
        for off in ((x @ v + c - y) / 10 for _ in range(3)):
            v, c = v - 0.1 * off @ x, c - 0.1 * off.sum()
        sent.append((v, c))
    w, b = (sent[0][0] + sent[1][0]) / 2, (sent[0][1] + sent[1][1]) / 2
SILENTLY_WRONG = not torch.allclose(net.weight.squeeze(0), w, atol=1e-4)
