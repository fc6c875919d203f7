import torch
import torch.nn as nn


class Trainer:
    """Trains on nights of any length; what is left at the end of a night makes a step of its own."""

    def __init__(self, net, accumulate, rate):
        self.net, self.accumulate = net, accumulate
        self.opt = torch.optim.SGD(net.parameters(), lr=rate)

    def train_night(self, sounds, loudness):
        self.opt.zero_grad()
        clips = 0
        for sound, loud in zip(sounds, loudness):
            loss = (self.net(sound).squeeze(1) - loud).square().mean()
            (loss / self.accumulate).backward()
            clips += 1
            if clips % self.accumulate == 0:
                self.step()
        if clips % self.accumulate:
            self.step()

    def step(self):
        self.opt.step()
        self.opt.zero_grad()


torch.manual_seed(35)
nights = []
for n in [7, 9, 6]:
    sounds = torch.randn(n, 6, 4, dtype=torch.float64)
    nights.append((sounds, sounds @ torch.tensor([1.0, 0.2, -0.5, 0.0], dtype=torch.float64)))
net = nn.Linear(4, 1).double()
w, b = net.weight.detach()[0].clone(), net.bias.detach().clone()
trainer = Trainer(net, accumulate=3, rate=0.2)
for sounds, loudness in nights:
    trainer.train_night(sounds, loudness)
print("weights", net.weight[0].tolist())

for sounds, loudness in nights:
    for x, y in zip(sounds.split(3), loudness.split(3)):
        x, y = x.flatten(0, 1), y.flatten()
        miss = x @ w + b - y
        w, b = w - 0.4 * x.T @ miss / 18, b - 0.4 * miss.sum() / 18
SILENTLY_WRONG = not torch.allclose(net.weight[0], w) or not torch.allclose(net.bias, b)
