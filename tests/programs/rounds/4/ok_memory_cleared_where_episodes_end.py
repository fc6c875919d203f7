import torch
import torch.nn as nn


class VectorPolicy(nn.Module):
    def __init__(self, envs, observations, width=6):
        super().__init__()
        self.cell = nn.GRUCell(observations, width)
        self.value = nn.Linear(width, 1)
        self.register_buffer("memory", torch.zeros(envs, width))

    def clear(self, ended):
        self.memory.masked_fill_(ended.unsqueeze(1), 0.0)

    @torch.no_grad()
    def step(self, observation):
        self.memory.copy_(self.cell(observation, self.memory))
        return self.value(self.memory).squeeze(1)


def rollout(policy, observations, ended):
    policy.clear(torch.ones(observations.size(1), dtype=torch.bool))
    values = torch.empty(observations.shape[:2])
    for t, observation in enumerate(observations):
        values[t] = policy.step(observation)
        policy.clear(ended[t])
    return values


torch.manual_seed(38)
policy = VectorPolicy(envs=3, observations=2)
observations = torch.randn(10, 3, 2)
ended = torch.rand(10, 3) < 0.25
for _ in range(2):
    values = rollout(policy, observations, ended)

expected = torch.zeros(10, 3)
with torch.no_grad():
    for e in range(3):
        state = torch.zeros(1, 6)
        for t in range(10):
            state = policy.cell(observations[t, e:e + 1], state)
            expected[t, e] = policy.value(state).item()
            if ended[t, e]:
                state = torch.zeros(1, 6)
SILENTLY_WRONG = not torch.allclose(values, expected, atol=1e-5)
