import torch
import torch.nn as nn
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform


class Diver(nn.Module):
    def __init__(self, senses, thrusters):
        super().__init__()
        self.body = nn.Linear(senses, 16)
        self.mean, self.spread = nn.Linear(16, thrusters), nn.Linear(16, thrusters)

    def forward(self, seen):
        hidden = torch.tanh(self.body(seen))
        base = Normal(2 * self.mean(hidden), self.spread(hidden).exp())
        return TransformedDistribution(base, [TanhTransform(cache_size=1)])


class Collector:
    def __init__(self, policy, limit):
        self.policy, self.limit = policy, limit
        self.actions, self.scores = [], []

    @torch.no_grad()
    def act(self, seen):
        choice = self.policy(seen)
        action = choice.sample()
        action.clamp_(-self.limit, self.limit)
        self.actions.append(action)
        self.scores.append(choice.log_prob(action).sum(dim=-1))
        return action


def dive(policy, seen, limit):
    collector = Collector(policy, limit)
    for row in seen:
        collector.act(row)
    return torch.stack(collector.actions), torch.stack(collector.scores)


torch.manual_seed(52)
policy, seen = Diver(5, 3), torch.randn(25, 5)
actions, scores = dive(policy, seen, limit=0.8)

with torch.no_grad():
    hidden = torch.tanh(policy.body(seen))
    mean, spread = 2 * policy.mean(hidden), policy.spread(hidden).exp()
    inner = 0.5 * torch.log((1 + actions) / (1 - actions))
    density = -0.5 * ((inner - mean) / spread).square() - spread.log() - 0.9189385
    expected = (density - torch.log(1 - actions.square())).sum(dim=1)
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-3)
