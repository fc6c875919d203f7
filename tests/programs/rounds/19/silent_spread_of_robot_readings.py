import torch


class RunningStats:
    def __init__(self, size):
        self.count = 0
        self.mean = torch.zeros(size, dtype=torch.float64)
        self.squares = torch.zeros(size, dtype=torch.float64)

    def push(self, reading):
        self.count += 1
        before = self.mean
        self.mean += (reading - before) / self.count
        self.squares += (reading - before) * (reading - self.mean)

    @property
    def std(self):
        if self.count < 2:
            return torch.ones_like(self.mean)
        return (self.squares / (self.count - 1)).sqrt()


class Normalized:
    """Wraps an environment so that the agent sees readings of unit spread."""

    def __init__(self, env, clip=5.0):
        self.env, self.clip = env, clip
        self.stats = RunningStats(env.size)

    def see(self, reading):
        self.stats.push(reading)
        return ((reading - self.stats.mean) / (self.stats.std + 1e-8)).clamp(-self.clip, self.clip)

    def reset(self):
        return self.see(self.env.reset())

    def step(self, action):
        reading, reward = self.env.step(action)
        return self.see(reading), reward


class Arm:
    size = 4

    def __init__(self, seed):
        self.draws = torch.Generator().manual_seed(seed)

    def reset(self):
        self.joints = torch.randn(2, generator=self.draws, dtype=torch.float64)
        return torch.cat([self.joints, 10 * self.joints.sin()])

    def step(self, torque):
        self.joints = 0.9 * self.joints + 0.3 * torque
        noise = 0.1 * torch.randn(2, generator=self.draws, dtype=torch.float64)
        return torch.cat([self.joints + noise, 10 * self.joints.sin()]), -self.joints.square().sum()


def drive(env, steps):
    seen = [env.reset()]
    for i in range(steps):
        torque = torch.tensor([1.0, -1.0], dtype=torch.float64) * (-1) ** (i // 5)
        seen.append(env.step(torque)[0])
    return torch.stack(seen)


seen = drive(Normalized(Arm(1918)), steps=60)


class Plain:
    def __init__(self, env):
        self.env = env

    def reset(self):
        return self.env.reset()

    def step(self, action):
        return self.env.step(action)


raw = drive(Plain(Arm(1918)), steps=60)
expected = [torch.zeros(4, dtype=torch.float64)]
for i in range(2, len(raw) + 1):
    part = raw[:i]
    expected.append(((part[-1] - part.mean(dim=0)) / (part.std(dim=0) + 1e-8)).clamp(-5, 5))
SILENTLY_WRONG = not torch.allclose(seen, torch.stack(expected), atol=1e-6)
