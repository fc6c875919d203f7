import torch
import torch.nn as nn


class RecurrentPolicy(nn.Module):
    def __init__(self, observations, actions, width=6):
        super().__init__()
        self.cell = nn.GRUCell(observations, width)
        self.out = nn.Linear(width, actions)
        self.register_buffer("memory", torch.zeros(1, width))

    def reset(self):
        self.memory.zero_()

    @torch.no_grad()
    def act(self, observation):
        self.memory.copy_(self.cell(observation.unsqueeze(0), self.memory))
        return self.out(self.memory).squeeze(0)


def evaluate(policy, episodes):
    policy.reset()
    scores = []
    for observations in episodes:
        score = 0.0
        for observation in observations:
            score += policy.act(observation).max().item()
        scores.append(score)
    return scores


torch.manual_seed(18)
policy = RecurrentPolicy(3, 2)
episodes = [torch.randn(n, 3) for n in (4, 6, 5)]
scores = evaluate(policy, episodes)

expected = []
with torch.no_grad():
    for observations in episodes:
        state, score = torch.zeros(1, 6), 0.0
        for observation in observations:
            state = policy.cell(observation.unsqueeze(0), state)
            score += policy.out(state).max().item()
        expected.append(score)
SILENTLY_WRONG = not torch.allclose(torch.tensor(scores), torch.tensor(expected), atol=1e-5)
