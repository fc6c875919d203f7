import torch


class LanternEnv:
    """Many lanterns at once; each starts anew when its time is out, in the same step."""

    def __init__(self, num_envs, max_length):
        self.num_envs = num_envs
        self.angle = torch.zeros(num_envs)
        self.speed = torch.zeros(num_envs)
        self.length = torch.zeros(num_envs, dtype=torch.long)
        self.obs_buf = torch.zeros(num_envs, 2)
        self.max_length = max_length
        self.reset_idx(torch.arange(num_envs))

    def reset_idx(self, env_ids):
        self.angle[env_ids] = 0.5 + 0.1 * env_ids
        self.speed[env_ids] = 0.0
        self.length[env_ids] = 0

    def compute_observations(self):
        self.obs_buf[:, 0] = self.angle
        self.obs_buf[:, 1] = self.speed
        return self.obs_buf

    def step(self, wind):
        self.speed -= 0.2 * self.angle.sin() - wind
        self.angle += 0.2 * self.speed
        self.length += 1
        reward = -self.angle.square()
        truncated = self.length >= self.max_length
        extras = {"final_obs": self.compute_observations().clone()}
        self.reset_idx(truncated.nonzero().squeeze(-1))
        return self.compute_observations(), reward, truncated, extras


def evaluate(env, value, steps, gamma=0.95):
    targets = torch.zeros(steps, env.num_envs)
    for t in range(steps):
        obs, reward, truncated, extras = env.step(wind=0.02)
        following = torch.where(truncated[:, None], extras["final_obs"], obs)
        targets[t] = reward + gamma * following @ value
    return targets


value = torch.tensor([0.7, -1.1])
targets = evaluate(LanternEnv(num_envs=4, max_length=6), value, steps=15)
print("targets", targets.mean(dim=0).tolist())

expected = torch.zeros(15, 4)
for i in range(4):
    for t in range(15):
        if t % 6 == 0:
            a, s = torch.tensor(0.5 + 0.1 * i), 0.0
        s = s - 0.2 * torch.sin(a) + 0.02
        a = a + 0.2 * s
        expected[t, i] = -a ** 2 + 0.95 * (0.7 * a - 1.1 * s)
SILENTLY_WRONG = not torch.allclose(targets, expected, atol=1e-4)
