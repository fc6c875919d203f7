import torch
import torch.nn as nn


class WeightTrack:
    def __init__(self, net):
        self.net, self.epochs = net, []

    def record(self):
        self.epochs.append([p.detach().cpu() for p in self.net.parameters()])

    def lengths(self):
        moved = []
        for before, after in zip(self.epochs[:-1], self.epochs[1:]):
            squares = [(b - a).square().sum() for a, b in zip(before, after)]
            moved.append(torch.stack(squares).sum().sqrt())
        return torch.stack(moved)


def train(net, batches, epochs, track, rate=0.1):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    track.record()
    for _ in range(epochs):
        for x, y in batches:
            optimizer.zero_grad()
            (net(x).squeeze(1) - y).square().mean().backward()
            optimizer.step()
        track.record()


torch.manual_seed(122)
net = nn.Linear(4, 1)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()
batches = [(torch.randn(8, 4), torch.randn(8)) for _ in range(3)]
track = WeightTrack(net)
train(net, batches, epochs=6, track=track)

expected = []
for _ in range(6):
    begin = torch.cat([weight, bias])
    for x, y in batches:
        slope = 2 * (x @ weight + bias - y) / 8
        weight, bias = weight - 0.1 * slope @ x, bias - 0.1 * slope.sum()
    expected.append((torch.cat([weight, bias]) - begin).norm())
SILENTLY_WRONG = not torch.allclose(track.lengths(), torch.stack(expected), atol=1e-5)
