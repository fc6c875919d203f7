import torch


class JointHistory:
    def __init__(self, robots, joints, length):
        self.buffer = torch.zeros(robots, length, joints)

    def reset(self, robots):
        self.buffer[robots] = 0.0

    def insert(self, angles):
        self.buffer[:, 1:] = self.buffer[:, :-1]
        self.buffer[:, 0] = angles

    def velocity(self, dt):
        return (self.buffer[:, 0] - self.buffer[:, 2]) / (2 * dt)


def swing(t, robots=4, joints=3):
    phase = torch.arange(robots)[:, None] * 0.4 + torch.arange(joints) * 0.9
    return torch.sin(2.0 * t + phase)


dt = 0.02
history = JointHistory(robots=4, joints=3, length=6)
speeds = []
for tick in range(20):
    history.insert(swing(tick * dt))
    if tick >= 5:
        speeds.append(history.velocity(dt))
speeds = torch.stack(speeds)

expected = torch.stack([(swing(t * dt) - swing((t - 2) * dt)) / (2 * dt) for t in range(5, 20)])
SILENTLY_WRONG = not torch.allclose(speeds, expected, atol=1e-4)
