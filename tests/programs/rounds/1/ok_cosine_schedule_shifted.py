import math

import torch


class CosineSchedule:
    def __init__(self, steps, offset=0.008):
        t = torch.arange(steps + 1) / steps
        curve = torch.cos((t + offset) / (1 + offset) * math.pi / 2)
        head = curve[0].clone()
        tail = curve[-2].clone()
        curve -= tail
        curve *= head / (head - tail)
        self.alphas_bar = curve[:-1].square_()

    def snr(self):
        return self.alphas_bar / (1 - self.alphas_bar).clamp_(min=1e-8)

    def sample(self, x0, t, noise):
        keep = self.alphas_bar[t].view(-1, 1)
        out = keep.sqrt() * x0
        out += (1 - keep).sqrt() * noise
        return out


torch.manual_seed(0)
schedule = CosineSchedule(20)
x0, noise = torch.randn(3, 4), torch.randn(3, 4)
t = torch.tensor([0, 7, 19])
noisy = schedule.sample(x0, t, noise)
weights = schedule.snr()

values = [math.cos((i / 20 + 0.008) / 1.008 * math.pi / 2) for i in range(20)]
moved = [(v - values[-1]) * values[0] / (values[0] - values[-1]) for v in values]
bar = torch.tensor([m ** 2 for m in moved])
expected = bar[t].sqrt().view(-1, 1) * x0 + (1 - bar[t]).sqrt().view(-1, 1) * noise
SILENTLY_WRONG = not (
    torch.allclose(noisy, expected, atol=1e-4)
    and torch.allclose(weights, bar / (1 - bar), rtol=1e-2, atol=1e-4)
)
