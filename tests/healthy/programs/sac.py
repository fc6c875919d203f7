import copy

import torch
import torch.nn.functional as F
from torch import nn


def network(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 16), nn.ReLU(inplace=True), nn.Linear(16, 16), nn.ReLU(inplace=True), nn.Linear(16, outputs)
    )


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = network(3, 4)

    def forward(self, state):
        mean, log_std = self.body(state).chunk(2, dim=-1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(1, keepdim=True)


actor, critics = Actor(), nn.ModuleList([network(5, 1), network(5, 1)])
targets = copy.deepcopy(critics).requires_grad_(False)
log_alpha = torch.zeros(1, requires_grad=True)
optimizer_actor = torch.optim.Adam(actor.parameters(), lr=3e-4)
optimizer_critics = torch.optim.Adam(critics.parameters(), lr=3e-4, fused=True)
optimizer_alpha = torch.optim.Adam([log_alpha], lr=3e-4)
replay = {
    "state": torch.zeros(64, 3),
    "action": torch.zeros(64, 2),
    "reward": torch.zeros(64, 1),
    "next": torch.zeros(64, 3),
}
losses = []
# %%
state = torch.randn(3)
for index in range(64):
    with torch.no_grad():
        action, _ = actor(state.unsqueeze(0))
    after = state + 0.1 * torch.randn(3)
    replay["state"][index] = state
    replay["action"][index] = action[0]
    replay["reward"][index] = -after.abs().sum()
    replay["next"][index] = after
    state = after
# %%
for _ in range(3):
    rows = torch.randint(64, (16,))
    batch = {name: column[rows] for name, column in replay.items()}
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        action, log_prob = actor(batch["next"])
        pair = torch.cat([batch["next"], action], 1)
        value = torch.min(targets[0](pair), targets[1](pair)) - alpha * log_prob
        wanted = batch["reward"] + 0.99 * value
    pair = torch.cat([batch["state"], batch["action"]], 1)
    critic_loss = sum(F.mse_loss(critic(pair), wanted) for critic in critics)
    optimizer_critics.zero_grad()
    critic_loss.backward()
    optimizer_critics.step()
    action, log_prob = actor(batch["state"])
    pair = torch.cat([batch["state"], action], 1)
    actor_loss = (alpha * log_prob - torch.min(critics[0](pair), critics[1](pair))).mean()
    optimizer_actor.zero_grad()
    actor_loss.backward()
    optimizer_actor.step()
    alpha_loss = -(log_alpha * (log_prob.detach() - 2)).mean()
    optimizer_alpha.zero_grad()
    alpha_loss.backward()
    optimizer_alpha.step()
    for target, critic in zip(targets.parameters(), critics.parameters(), strict=True):
        target.data.mul_(0.995)
        target.data.add_(0.005 * critic.data)
    losses.append((critic_loss.item(), actor_loss.item(), alpha_loss.item()))
