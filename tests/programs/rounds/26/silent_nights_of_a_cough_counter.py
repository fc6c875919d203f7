import torch
import torch.nn as nn


class Trainer:
    """Trains on short nights; a step is made whenever enough clips have come together."""

    def __init__(self, net, accumulate, rate):
        self.net, self.accumulate = net, accumulate
        self.opt = torch.optim.SGD(net.parameters(), lr=rate)
        self.clips = 0
        self.last_step = 0

    def optimizer_step(self):
        nn.utils.clip_grad_norm_(self.net.parameters(), 10.0)
        self.opt.step()
        self.opt.zero_grad()

    def train_night(self, sounds, coughs):
        self.net.train()
        self.opt.zero_grad()
        for sound, cough in zip(sounds, coughs):
            self.clips += 1
            loss = nn.functional.binary_cross_entropy_with_logits(self.net(sound)[:, 0], cough)
            (loss / self.accumulate).backward()
            if self.clips - self.last_step >= self.accumulate:
                self.optimizer_step()
                self.last_step = self.clips


torch.manual_seed(34)
nights = []
for _ in range(6):
    sounds = torch.randn(10, 8, 5, dtype=torch.float64)
    nights.append((sounds, (sounds[:, :, 0] + sounds[:, :, 3] > 0).double()))
net = nn.Linear(5, 1).double()
w, b = net.weight.detach()[0].clone(), net.bias.detach().clone()
trainer = Trainer(net, accumulate=4, rate=1.0)
for sounds, coughs in nights:
    trainer.train_night(sounds, coughs)
print("weights", net.weight[0].tolist())

clips = [clip for sounds, coughs in nights for clip in zip(sounds, coughs)]
for first in range(0, len(clips), 4):
    slope_w, slope_b = torch.zeros_like(w), torch.zeros_like(b)
    for x, y in clips[first : first + 4]:
        miss = torch.sigmoid(x @ w + b) - y
        slope_w, slope_b = slope_w + x.T @ miss / 32, slope_b + miss.sum() / 32
    w, b = w - slope_w, b - slope_b
SILENTLY_WRONG = not torch.allclose(net.weight[0], w, atol=1e-6)
