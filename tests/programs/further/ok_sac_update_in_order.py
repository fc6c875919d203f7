import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))
critic = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
target = copy.deepcopy(critic).requires_grad_(False)
log_alpha = torch.zeros(1, requires_grad=True)
opt_actor, opt_critic = (torch.optim.Adam(net.parameters(), lr=1e-2) for net in (actor, critic))
opt_alpha = torch.optim.Adam([log_alpha], lr=1e-2)


def act(obs):
    mu, log_std = actor(obs).chunk(2, dim=-1)
    dist = torch.distributions.Normal(mu, log_std.clamp(-5, 2).exp())
    raw = dist.rsample()
    return torch.tanh(raw), (dist.log_prob(raw) - torch.log(1 - torch.tanh(raw).pow(2) + 1e-6)).sum(-1, keepdim=True)


for _ in range(2):
    obs, action, reward, next_obs = torch.randn(6, 3), torch.rand(6, 2), torch.randn(6, 1), torch.randn(6, 3)
    with torch.no_grad():
        next_action, next_logp = act(next_obs)
        q_next = target(torch.cat([next_obs, next_action], -1)) - log_alpha.exp() * next_logp
        backup = reward + 0.99 * q_next
    critic_loss = F.mse_loss(critic(torch.cat([obs, action], -1)), backup)
    opt_critic.zero_grad(), critic_loss.backward(), opt_critic.step()
    pi, logp = act(obs)
    actor_loss = (log_alpha.exp().detach() * logp - critic(torch.cat([obs, pi], -1))).mean()
    opt_actor.zero_grad(), actor_loss.backward(), opt_actor.step()
    alpha_loss = -(log_alpha * (logp.detach() - 2)).mean()
    opt_alpha.zero_grad(), alpha_loss.backward(), opt_alpha.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), critic.parameters()):
            slow.lerp_(fast, 0.05)
