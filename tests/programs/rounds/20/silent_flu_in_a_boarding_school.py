import torch


class School:
    def __init__(self, pupils, contact, recovery, leave):
        self.pupils = pupils
        self.contact, self.recovery, self.leave = contact, recovery, leave

    def __call__(self, t, y):
        """Change of the healthy, the ill, the pupils in bed and the recovered."""
        infected = self.contact * y[0] * y[1] / self.pupils
        to_bed = self.leave * y[1]
        well = self.recovery * y[2]
        y[0] = -infected
        y[1] = infected - to_bed
        y[2] = to_bed - well
        y[3] = well
        return y


def solve(flow, y, days, steps_per_day=10):
    """Heun's method; returns the state at the end of each day."""
    h = 1.0 / steps_per_day
    path = []
    for day in range(days):
        for k in range(steps_per_day):
            t = day + k * h
            first = flow(t, y)
            second = flow(t + h, y + h * first)
            y = y + 0.5 * h * (first + second)
        path.append(y)
    return torch.stack(path)


start = torch.tensor([760.0, 3.0, 0.0, 0.0], dtype=torch.float64)
school = School(pupils=763, contact=1.9, recovery=0.45, leave=0.6)
path = solve(school, start, days=14)
print("in bed at most", path[:, 2].max().item())

s, i, b, r = 760.0, 3.0, 0.0, 0.0
expected = []


def change(s, i, b, r):
    new = 1.9 * s * i / 763
    return -new, new - 0.6 * i, 0.6 * i - 0.45 * b, 0.45 * b


for day in range(14):
    for k in range(10):
        one = change(s, i, b, r)
        two = change(*(z + 0.1 * d for z, d in zip((s, i, b, r), one)))
        s, i, b, r = (z + 0.05 * (d + e) for z, d, e in zip((s, i, b, r), one, two))
    expected.append([s, i, b, r])
SILENTLY_WRONG = not torch.allclose(path, torch.tensor(expected, dtype=torch.float64), rtol=1e-6)
