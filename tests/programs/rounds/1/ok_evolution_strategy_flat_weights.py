import copy

import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class EvolutionStrategy:
    """The policy reads its weights from self.theta, which every trial moves and moves back."""

    def __init__(self, policy, sigma, lr):
        self.policy = policy.requires_grad_(False)
        self.sigma, self.lr = sigma, lr
        self.theta = parameters_to_vector(policy.parameters()).clone()
        vector_to_parameters(self.theta, policy.parameters())

    def step(self, score, noises):
        centre = self.theta.clone()
        update = torch.zeros_like(centre)
        for noise in noises:
            self.theta.add_(noise, alpha=self.sigma)
            update += score(self.policy) * noise
            self.theta.copy_(centre)
        self.theta.add_(update, alpha=self.lr / (len(noises) * self.sigma))


torch.manual_seed(0)
obs = torch.randn(20, 3)
goal = obs[:, :1] - obs[:, 2:]


def score(policy):
    return -(policy(obs) - goal).pow(2).mean()


policy = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
other = copy.deepcopy(policy).requires_grad_(False)
size = sum(p.numel() for p in policy.parameters())
rounds = [[torch.randn(size) for _ in range(6)] for _ in range(3)]

strategy = EvolutionStrategy(policy, sigma=0.1, lr=0.05)
for noises in rounds:
    strategy.step(score, noises)

weights = torch.cat([p.flatten() for p in other.parameters()])
for noises in rounds:
    total = 0
    for noise in noises:
        vector_to_parameters(weights + 0.1 * noise, other.parameters())
        total = total + score(other) * noise
    weights = weights + 0.05 / (6 * 0.1) * total
vector_to_parameters(weights, other.parameters())
SILENTLY_WRONG = not torch.allclose(policy(obs), other(obs), atol=1e-5)
