import torch
import torch.nn as nn


class Retrainer:
    """Trains a net anew and gives it back with the weights of its best epoch."""

    def __init__(self, net, rate, patience):
        self.net, self.patience = net, patience
        self.opt = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
        self.best_error, self.best_weights = float("inf"), None
        self.waited = 0

    def error(self, clay, shrinkage):
        with torch.no_grad():
            return (self.net(clay).squeeze(1) - shrinkage).square().mean().item()

    def note(self, error):
        if error < self.best_error:
            self.best_error, self.waited = error, 0
            self.best_weights = self.net.state_dict()
        else:
            self.waited += 1
        return self.waited < self.patience

    def run(self, train, valid, epochs):
        clay, shrinkage = train
        for _ in range(epochs):
            for x, y in zip(clay.split(4), shrinkage.split(4)):
                self.opt.zero_grad()
                (self.net(x).squeeze(1) - y).square().mean().backward()
                self.opt.step()
            if not self.note(self.error(*valid)):
                break
        self.net.load_state_dict(self.best_weights)
        return self.net


torch.manual_seed(24)
clay = torch.rand(56, 5)
shrinkage = 0.08 + 0.05 * clay[:, 0] + 0.1 * torch.randn(56)
train, valid = (clay[:16], shrinkage[:16]), (clay[16:36], shrinkage[16:36])
net = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 1))
retrainer = Retrainer(net, rate=0.1, patience=12)
retrainer.run(train, valid, epochs=60)
with torch.no_grad():
    chosen = (net(valid[0]).squeeze(1) - valid[1]).square().mean().item()
print("lowest error", retrainer.best_error, "error of the net handed back", chosen)

SILENTLY_WRONG = abs(chosen - retrainer.best_error) > 1e-6
