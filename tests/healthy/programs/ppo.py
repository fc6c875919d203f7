import torch
from torch import nn

STEPS, WORKERS = 8, 4


def layer(inputs, outputs, gain=2**0.5):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.constant_(made.bias, 0.0)
    return made


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(layer(3, 16), nn.Tanh())
        self.actor, self.critic = layer(16, 2, 0.01), layer(16, 1, 1.0)

    def forward(self, observed, action=None):
        hidden = self.body(observed)
        choice = torch.distributions.Categorical(logits=self.actor(hidden))
        if action is None:
            action = choice.sample()
        return action, choice.log_prob(action), choice.entropy(), self.critic(hidden).flatten()


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
observations = torch.zeros(STEPS, WORKERS, 3)
actions = torch.zeros(STEPS, WORKERS, dtype=torch.long)
log_probs, rewards, values, ends = (torch.zeros(STEPS, WORKERS) for _ in range(4))
mean, square, count = torch.zeros(3), torch.ones(3), 1e-4
losses = []
observed, ended = torch.randn(WORKERS, 3), torch.zeros(WORKERS)
# %%
for update in range(2):
    optimizer.param_groups[0]["lr"] = 2.5e-4 * (1 - update / 2)
    for step in range(STEPS):
        mean += (observed.mean(0) - mean) / (step + 1)
        observations[step] = observed
        ends[step] = ended
        with torch.no_grad():
            action, log_prob, _, value = agent(observed)
            values[step] = value
        actions[step] = action
        log_probs[step] = log_prob
        rewards[step] = 1.0 - observed.abs().mean(1) * action
        observed = observed + 0.1 * torch.randn(WORKERS, 3)
        ended = (observed.abs().max(1).values > 3).float()
        observed[ended.bool()] = 0.0
    with torch.no_grad():
        following = agent(observed)[3]
        advantages, last = torch.zeros_like(rewards), 0
        for step in reversed(range(STEPS)):
            alive = 1.0 - (ended if step == STEPS - 1 else ends[step + 1])
            after = following if step == STEPS - 1 else values[step + 1]
            delta = rewards[step] + 0.99 * after * alive - values[step]
            advantages[step] = last = delta + 0.99 * 0.95 * alive * last
        returns = advantages + values
    flat = [part.flatten(0, 1) for part in (observations, actions, log_probs, advantages, returns)]
    for rows in torch.randperm(STEPS * WORKERS).split(16):
        seen, action, before, advantage, wanted = (part[rows] for part in flat)
        _, log_prob, entropy, value = agent(seen, action)
        ratio = (log_prob - before).exp()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        policy_loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
        loss = policy_loss - 0.01 * entropy.mean() + 0.25 * (value - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
