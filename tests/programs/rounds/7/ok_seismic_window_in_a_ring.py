import torch


class TriggerRatio:
    def __init__(self, channels, long, short):
        self.ring = torch.zeros(channels, long)
        self.short = short
        self.head = 0

    def push(self, sample):
        self.ring[:, self.head] = sample
        self.head = (self.head + 1) % self.ring.shape[1]

    def window(self):
        return self.ring.roll(-self.head, dims=1)

    def ratio(self):
        energy = self.window()
        energy.square_()
        return energy[:, -self.short:].mean(dim=1) / energy.mean(dim=1).clamp_(min=1e-6)


torch.manual_seed(4)
signal = torch.randn(3, 90)
signal[1, 60:70] *= 6
detector = TriggerRatio(channels=3, long=25, short=5)
ratios = []
for t in range(90):
    detector.push(signal[:, t])
    if t >= 24:
        ratios.append(detector.ratio())
ratios = torch.stack(ratios, dim=1)

power = signal.double() ** 2
padded = torch.cat([torch.zeros(3, 1, dtype=torch.float64), power.cumsum(dim=1)], dim=1)
last = torch.arange(25, 91)
short = (padded[:, last] - padded[:, last - 5]) / 5
long = (padded[:, last] - padded[:, last - 25]) / 25
SILENTLY_WRONG = not torch.allclose(ratios.double(), short / long, atol=1e-3)
