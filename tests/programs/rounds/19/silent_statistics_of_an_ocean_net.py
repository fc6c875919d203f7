import torch
import torch.nn as nn


class OceanBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.mix = nn.Conv2d(channels, channels, 1, dtype=torch.float64)
        self.norm = nn.BatchNorm2d(channels, dtype=torch.float64)

    def forward(self, x):
        return x + self.norm(self.mix(x)).tanh()


class DynamicLoss:
    """Gives each channel a weight by how badly it is predicted at the moment."""

    def __init__(self, net, temperature=1.0):
        self.net, self.temperature = net, temperature

    @torch.no_grad()
    def weights(self, state, target):
        error = (self.net(state) - target).square().mean(dim=(0, 2, 3))
        return torch.softmax(error / self.temperature, dim=0)

    def __call__(self, prediction, state, target):
        error = (prediction - target).square().mean(dim=(0, 2, 3))
        return (self.weights(state, target) * error).sum()


class Trainer:
    def __init__(self, net, rate):
        self.net, self.loss = net, DynamicLoss(net)
        self.optimizer = torch.optim.SGD(net.parameters(), lr=rate)

    def fit(self, pairs):
        self.net.train()
        for state, target in pairs:
            self.optimizer.zero_grad()
            self.loss(self.net(state), state, target).backward()
            self.optimizer.step()

    @torch.no_grad()
    def rollout(self, state, steps):
        self.net.eval()
        for _ in range(steps):
            state = self.net(state)
        return state


torch.manual_seed(1908)
trainer = Trainer(OceanBlock(3), rate=0.0)
pairs = [(1 + 2 * torch.randn(4, 3, 5, 5).double(), torch.randn(4, 3, 5, 5).double()) for _ in range(4)]
trainer.fit(pairs)
state = torch.randn(2, 3, 5, 5).double()
ocean = trainer.rollout(state, steps=3)

weight = trainer.net.mix.weight.detach()[:, :, 0, 0]
bias = trainer.net.mix.bias.detach()[:, None, None]
mean, var = torch.zeros(3).double(), torch.ones(3).double()
for x, _ in pairs:
    mixed = torch.einsum("oi,nihw->nohw", weight, x) + bias
    mean = 0.9 * mean + 0.1 * mixed.mean(dim=(0, 2, 3))
    var = 0.9 * var + 0.1 * mixed.transpose(0, 1).flatten(1).var(dim=1)
for _ in range(3):
    mixed = torch.einsum("oi,nihw->nohw", weight, state) + bias
    state = state + ((mixed - mean[:, None, None]) / (var[:, None, None] + 1e-5).sqrt()).tanh()
SILENTLY_WRONG = not torch.allclose(ocean, state)
