import torch
import torch.nn as nn

torch.manual_seed(28)
gamma, lam = 0.95, 0.9
critic = nn.Linear(3, 1)
states, rewards = torch.randn(11, 3), torch.rand(10)
dones = torch.tensor([0, 0, 0, 1, 0, 0, 0, 0, 1, 0])

with torch.no_grad():
    values = critic(states).squeeze(1)
next_values = values[1:].clone()
finished = dones == 1
next_values[finished] = 0.0
deltas = rewards + gamma * next_values - values[:-1]
advantages = deltas.clone()
for t in range(8, -1, -1):
    if not finished[t]:
        advantages[t] += gamma * lam * advantages[t + 1]
returns = advantages + values[:-1]
advantages.sub_(advantages.mean()).div_(advantages.std())

v = [critic(s).item() for s in states]
plain = []
for t in range(10):
    total, weight = 0.0, 1.0
    for k in range(t, 10):
        ahead = 0.0 if dones[k] else v[k + 1]
        total += weight * (rewards[k].item() + gamma * ahead - v[k])
        weight *= gamma * lam
        if dones[k]:
            break
    plain.append(total)
plain = torch.tensor(plain)
SILENTLY_WRONG = not (torch.allclose(returns, plain + torch.tensor(v[:10]), atol=1e-4)
                      and torch.allclose(advantages, (plain - plain.mean()) / plain.std(), atol=1e-3))
