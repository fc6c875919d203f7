import copy

import torch
import torch.nn as nn


class Retrainer:
    """Trains a net anew and gives it back with the weights of its best epoch."""

    def __init__(self, net, rate):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
        self.best_error, self.best_weights = float("inf"), None

    def error(self, glaze, colour):
        with torch.no_grad():
            return (self.net(glaze) - colour).square().mean().item()

    def run(self, train, valid, epochs):
        for _ in range(epochs):
            for x, y in zip(train[0].split(3), train[1].split(3)):
                self.opt.zero_grad()
                (self.net(x) - y).square().mean().backward()
                self.opt.step()
            error = self.error(*valid)
            if error < self.best_error:
                self.best_error = error
                self.best_weights = copy.deepcopy(self.net.state_dict())
        last = error
        self.net.load_state_dict(self.best_weights)
        return last


torch.manual_seed(25)
glaze = torch.rand(40, 4)
colour = torch.stack([glaze[:, 0], glaze[:, 1] * glaze[:, 2]], dim=1) + 0.2 * torch.randn(40, 2)
net = nn.Sequential(nn.Linear(4, 20), nn.Tanh(), nn.Linear(20, 2))
retrainer = Retrainer(net, rate=0.1)
valid = (glaze[15:], colour[15:])
last = retrainer.run((glaze[:15], colour[:15]), valid, epochs=30)
a, b = net[0], net[2]
hidden = torch.tanh(valid[0] @ a.weight.T + a.bias)
chosen = (hidden @ b.weight.T + b.bias - valid[1]).square().mean().item()
print("lowest", retrainer.best_error, "last", last, "chosen", chosen)

SILENTLY_WRONG = abs(chosen - retrainer.best_error) > 1e-6 or chosen > last
