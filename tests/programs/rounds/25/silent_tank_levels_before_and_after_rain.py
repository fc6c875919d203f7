import torch


class TankField:
    """Rain water tanks behind a row of houses."""

    def __init__(self, levels, roof):
        self.levels = levels
        self.roof = roof

    def report(self):
        return self.levels.numpy()

    def rain(self, millimetres):
        self.levels += millimetres * self.roof
        self.levels.clamp_(max=1000.0)

    def draw(self, litres):
        self.levels -= litres
        self.levels.clamp_(min=0.0)


torch.manual_seed(2)
roof = 40.0 + 60.0 * torch.rand(8)
tanks = TankField(200.0 + 300.0 * torch.rand(8), roof)
filled = tanks.levels.tolist()
before = tanks.report()
for hour_rain in (0.6, 1.8, 2.4, 0.2):
    tanks.rain(hour_rain)
after = tanks.report()
gain = after - before
print("caught litres", round(float(gain.sum()), 1), "best tank", int(gain.argmax()))

caught = []
for level, area in zip(filled, roof.tolist()):
    now = level
    for hour_rain in (0.6, 1.8, 2.4, 0.2):
        now = min(now + hour_rain * area, 1000.0)
    caught.append(now - level)
SILENTLY_WRONG = abs(float(gain.sum()) - sum(caught)) > 0.1
