import torch


class Kiln:
    def __init__(self, shape):
        self.heat = torch.zeros(shape)
        self.zones, self.limits = {}, {}

    def zone(self, name, top, bottom, limit):
        self.zones[name], self.limits[name] = slice(top, bottom), limit

    def burn(self, row, strength):
        away = (torch.arange(len(self.heat)) - row).abs_()
        self.heat += strength * away.mul(-0.3).exp_()[:, None]

    def protect(self):
        for name, zone in self.zones.items():
            limit = self.limits[name]
            self.heat[zone][self.heat[zone] > limit] = limit

    def report(self):
        return {name: self.heat[zone].mean() for name, zone in self.zones.items()}


def fire(burns):
    kiln = Kiln((10, 4))
    kiln.zone("roof", 0, 3, limit=1.2)
    kiln.zone("door", 6, 9, limit=1.7)
    for row, strength in burns:
        kiln.burn(row, strength)
        kiln.protect()
    return kiln.report()


burns = [(1, 1.1), (7, 1.5), (4, 0.8), (8, 0.6), (2, 0.7)]
report = fire(burns)

zones, rows = {"roof": (0, 3, 1.2), "door": (6, 9, 1.7)}, [0.0] * 10
for row, strength in burns:
    rows = [h + strength * 2.718281828 ** (-0.3 * abs(i - row)) for i, h in enumerate(rows)]
    for top, bottom, limit in zones.values():
        rows[top:bottom] = [min(h, limit) for h in rows[top:bottom]]
expected = torch.tensor([sum(rows[t:b]) / (b - t) for t, b, _ in zones.values()])
SILENTLY_WRONG = not torch.allclose(torch.stack(list(report.values())), expected, atol=1e-4)
