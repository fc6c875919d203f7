import torch


class Gravity:
    def __init__(self, mass, soft=0.05):
        self.mass = mass
        self.soft = soft
        self.acc = torch.zeros(len(mass), 2, dtype=torch.float64)

    def accelerations(self, pos):
        delta = pos.unsqueeze(0) - pos.unsqueeze(1)
        inv = (delta.square().sum(-1) + self.soft ** 2).pow_(-1.5)
        torch.sum(delta * (self.mass * inv).unsqueeze(-1), dim=1, out=self.acc)
        return self.acc


def leapfrog(field, pos, vel, dt, steps):
    acc = field.accelerations(pos)
    for _ in range(steps):
        vel += 0.5 * dt * acc
        pos += dt * vel
        acc = field.accelerations(pos)
        vel += 0.5 * dt * acc
    return pos, vel


def bodies():
    pos = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    vel = torch.tensor([[0.0, 0.0], [0.0, 1.0], [-0.7, 0.0]], dtype=torch.float64)
    return torch.tensor([1.0, 0.01, 0.02], dtype=torch.float64), pos, vel


mass, pos, vel = bodies()
leapfrog(Gravity(mass), pos, vel, 0.01, 200)

m, x, v = (t.tolist() for t in bodies())


def pull(x):
    out = []
    for i in range(3):
        ax = ay = 0.0
        for j in range(3):
            dx, dy = x[j][0] - x[i][0], x[j][1] - x[i][1]
            w = m[j] * (dx * dx + dy * dy + 0.05 ** 2) ** -1.5
            ax, ay = ax + w * dx, ay + w * dy
        out.append((ax, ay))
    return out


for _ in range(200):
    a = pull(x)
    x = [[x[i][k] + 0.01 * v[i][k] + 0.5e-4 * a[i][k] for k in (0, 1)] for i in range(3)]
    b = pull(x)
    v = [[v[i][k] + 0.005 * (a[i][k] + b[i][k]) for k in (0, 1)] for i in range(3)]
SILENTLY_WRONG = not torch.allclose(pos, torch.tensor(x, dtype=torch.float64), atol=1e-6)
