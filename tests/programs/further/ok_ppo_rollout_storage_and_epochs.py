import torch
import torch.nn as nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
obs, actions = torch.zeros(6, 3), torch.zeros(6, dtype=torch.long)
old_logp, returns = torch.zeros(6), torch.zeros(6)
state = torch.zeros(3)
for iteration in range(2):
    with torch.no_grad():
        for t in range(6):
            obs[t] = state
            dist = torch.distributions.Categorical(logits=policy(state))
            actions[t] = dist.sample()
            old_logp[t] = dist.log_prob(actions[t])
            state.mul_(0.9).add_(torch.randn(3), alpha=0.1)
            returns[t] = state.sum()
    advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
    for epoch in range(2):
        for rows in torch.randperm(6).split(3):
            dist = torch.distributions.Categorical(logits=policy(obs[rows]))
            ratio = (dist.log_prob(actions[rows]) - old_logp[rows]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            loss = -torch.min(ratio * advantage[rows], clipped * advantage[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
