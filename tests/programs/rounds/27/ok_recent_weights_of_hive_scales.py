import torch


class Scales:
    """Recent weights of several hives; a hive that has been harvested starts anew."""

    def __init__(self, weight, length):
        self.weight = weight.clone()
        self.recent = self.weight[:, None].repeat(1, length)

    def harvest(self, hives, left):
        self.weight[hives] = left
        self.recent[hives] = left

    def night(self, gain):
        self.weight += gain
        self.recent = torch.cat([self.recent[:, 1:], self.weight[:, None]], dim=1)

    def trend(self):
        return self.recent[:, -1] - self.recent[:, 0]


torch.manual_seed(26)
start = 20 + 5 * torch.rand(4)
gains = 0.4 * torch.randn(40, 4) + 0.5
scales = Scales(start, length=7)
trends = []
for gain in gains:
    scales.night(gain)
    full = (scales.weight > 30).nonzero().squeeze(1)
    if len(full):
        scales.harvest(full, left=18.0)
    trends.append(scales.trend())
trends = torch.stack(trends)
print("trends", trends[-1].tolist())

expected = torch.zeros(40, 4)
for h in range(4):
    w = float(start[h])
    past = [w] * 7
    for t in range(40):
        w += float(gains[t, h])
        past.append(w)
        if w > 30:
            w, past = 18.0, [18.0] * 7
        expected[t, h] = past[-1] - past[-7]
SILENTLY_WRONG = not torch.allclose(trends, expected, atol=1e-3)
