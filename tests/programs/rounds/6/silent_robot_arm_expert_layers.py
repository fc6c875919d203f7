import torch
import torch.nn as nn


def rotate(x, position):
    half = x.shape[-1] // 2
    angle = position.unsqueeze(-1) / 100 ** (torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)


class ArmPolicy(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.mixers = nn.ModuleList([nn.Linear(dim, dim) for _ in range(depth)])

    def attend(self, q, k, v):
        return torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1) @ v

    def forward(self, scene, action, position):
        n = scene.shape[1]
        for i, mixer in enumerate(self.mixers):
            if i % 2 == 0:
                tokens = rotate(mixer(torch.cat([scene, action], dim=1)), position)
                mixed = self.attend(tokens, tokens, tokens)
                scene, action = scene + mixed[:, :n], action + mixed[:, n:]
            else:
                expert_position = position[:, n:]
                expert_position -= expert_position.min(dim=1, keepdim=True).values
                query = rotate(mixer(action), expert_position)
                action = action + self.attend(query, mixer(scene), scene)
        return action


torch.manual_seed(603)
policy = ArmPolicy(8, 4)
scene, action = torch.randn(2, 5, 8), torch.randn(2, 3, 8)
position = torch.arange(8.0).repeat(2, 1)
out = policy(scene, action, position)

x, y = scene, action
for i, mixer in enumerate(policy.mixers):
    if i % 2 == 0:
        tokens = rotate(mixer(torch.cat([x, y], dim=1)), torch.arange(8.0).expand(2, 8))
        mixed = policy.attend(tokens, tokens, tokens)
        x, y = x + mixed[:, :5], y + mixed[:, 5:]
    else:
        y = y + policy.attend(rotate(mixer(y), torch.arange(3.0).expand(2, 3)), mixer(x), x)
SILENTLY_WRONG = not torch.allclose(out, y, atol=1e-5)
