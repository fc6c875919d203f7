import torch
import torch.nn as nn


class Journal:
    def __init__(self):
        self.losses, self.lines = [], []

    def note(self, loss):
        self.losses.append(loss.detach())

    def close(self, step):
        mean = torch.stack(self.losses).mean()
        self.lines.append((step, round(mean.item(), 5)))
        self.losses.clear()


class Trainer:
    def __init__(self, net, parts, rate=0.1):
        self.net, self.parts, self.journal = net, parts, Journal()
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate)
        self.criterion = nn.MSELoss()

    def part(self, x, y):
        loss = self.criterion(self.net(x), y)
        self.journal.note(loss)
        loss /= self.parts
        loss.backward()

    def run(self, batches):
        for step, (x, y) in enumerate(batches):
            self.optimizer.zero_grad()
            for own_x, own_y in zip(x.chunk(self.parts), y.chunk(self.parts)):
                self.part(own_x, own_y)
            self.optimizer.step()
            self.journal.close(step)
        return self.journal.lines


torch.manual_seed(139)
net = nn.Linear(3, 1)
weight, bias = net.weight.detach().clone()[0], net.bias.detach().clone()
batches = [(torch.randn(16, 3), torch.randn(16, 1)) for _ in range(5)]
lines = Trainer(net, 4).run(batches)

expected = []
for x, y in batches:
    error = x @ weight + bias - y[:, 0]
    expected.append(error.square().mean())
    weight, bias = weight - 0.1 * 2 * error @ x / 16, bias - 0.1 * 2 * error.mean()
SILENTLY_WRONG = not torch.allclose(torch.tensor([mean for _, mean in lines]), torch.stack(expected), atol=1e-3)
