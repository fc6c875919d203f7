import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
opt_actor = torch.optim.Adam(actor.parameters(), lr=1e-2)
opt_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)

for _ in range(2):
    obs, action, target_q = torch.randn(6, 3), torch.rand(6, 2), torch.randn(6, 1)
    critic_loss = F.mse_loss(critic(torch.cat([obs, action], -1)), target_q)
    q_pi = critic(torch.cat([obs, actor(obs)], -1))
    actor_loss = -q_pi.mean()

    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step()

    opt_actor.zero_grad()
    actor_loss.backward()
    opt_actor.step()
