import torch


class PoleEnv:
    """Many poles at once; one that tips too far or stands long enough starts anew."""

    def __init__(self, num_envs, max_length):
        self.angle = torch.zeros(num_envs)
        self.speed = torch.zeros(num_envs)
        self.length = torch.zeros(num_envs, dtype=torch.long)
        self.max_length = max_length
        self._reset_idx(torch.arange(num_envs))

    def _reset_idx(self, env_ids):
        self.angle[env_ids] = 0.1 + 0.01 * env_ids
        self.speed[env_ids] = 0.0
        self.length[env_ids] = 0

    def _get_observations(self):
        return torch.stack([self.angle, self.speed], dim=1)

    def step(self, push):
        self.speed += 0.1 * (self.angle + push)
        self.angle += 0.1 * self.speed
        self.length += 1
        reward = 1.0 - self.angle.abs()
        time_out = self.length >= self.max_length
        reset_env_ids = time_out.nonzero(as_tuple=False).squeeze(-1)
        if len(reset_env_ids) > 0:
            self._reset_idx(reset_env_ids)
        return self._get_observations(), reward, time_out


def evaluate(env, value, steps, gamma=0.9):
    """TD targets along the way; an episode that only ran out of time is bootstrapped."""
    targets = []
    for t in range(steps):
        obs, reward, time_out = env.step(push=-0.3)
        targets.append(reward + gamma * obs @ value)
    return torch.stack(targets)


value = torch.tensor([-2.0, 1.5])
targets = evaluate(PoleEnv(num_envs=3, max_length=5), value, steps=12)
print("targets", targets.mean(dim=0).tolist())

expected = torch.zeros(12, 3)
for i in range(3):
    for t in range(12):
        if t % 5 == 0:
            a, s = 0.1 + 0.01 * i, 0.0
        s = s + 0.1 * (a - 0.3)
        a = a + 0.1 * s
        expected[t, i] = 1.0 - abs(a) + 0.9 * (-2.0 * a + 1.5 * s)
SILENTLY_WRONG = not torch.allclose(targets, expected, atol=1e-4)
