import torch
from torch import nn


class Unicycles:
    """Several unicycles at once; the policy sees the last frames, newest in front."""

    def __init__(self, count, frames, seed):
        dice = torch.Generator().manual_seed(seed)
        self.tilt = 0.1 * torch.randn(count, generator=dice, dtype=torch.float64)
        self.swing = torch.zeros(count, dtype=torch.float64)
        self.width = 2
        self.obs_buf = torch.zeros(count, frames * self.width, dtype=torch.float64)
        self.observe()

    def observe(self):
        frame = torch.stack([self.tilt, self.swing], dim=1)
        self.obs_buf[:, self.width:] = self.obs_buf[:, :-self.width]
        self.obs_buf[:, :self.width] = frame
        return self.obs_buf

    def step(self, push):
        self.swing = self.swing + 0.05 * (9.8 * torch.sin(self.tilt) - push)
        self.tilt = self.tilt + 0.05 * self.swing
        return self.observe()


torch.manual_seed(2)
policy = nn.Linear(8, 1).double()
with torch.no_grad():
    policy.weight.copy_(torch.tensor([[14.0, 4.0, 6.0, 1.0, -3.0, 0.5, -2.0, 0.0]]))
    policy.bias.zero_()
    env = Unicycles(count=6, frames=4, seed=7)
    for _ in range(60):
        env.step(policy(env.obs_buf).squeeze(1))
print("tilt after three seconds", env.tilt.tolist())

weight = policy.weight.detach()[0].tolist()
dice = torch.Generator().manual_seed(7)
start = 0.1 * torch.randn(6, generator=dice, dtype=torch.float64)
expected = []
for tilt in start:
    swing = torch.zeros((), dtype=torch.float64)
    frames = [(tilt, swing)]
    for _ in range(60):
        seen = frames[-1:-5:-1]
        push = sum(weight[2 * k] * a + weight[2 * k + 1] * b for k, (a, b) in enumerate(seen))
        swing = swing + 0.05 * (9.8 * torch.sin(tilt) - push)
        tilt = tilt + 0.05 * swing
        frames.append((tilt, swing))
    expected.append(tilt)
SILENTLY_WRONG = not torch.allclose(env.tilt, torch.stack(expected), atol=1e-8)
