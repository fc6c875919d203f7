import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, 8), nn.ReLU(inplace=True), nn.Linear(8, 2 * act))

    def sample(self, states):
        means, log_stds = self.net(states).chunk(2, dim=-1)
        log_stds.clamp_(-20, 2)
        return means + torch.randn_like(means) * log_stds.exp()


torch.manual_seed(0)
policy = Policy(3, 2)
actions = policy.sample(torch.randn(4, 3))
actions.pow(2).mean().backward()
