import torch
import torch.nn as nn


class Agent:
    def __init__(self, number, agents, obs=3, act=2):
        self.number = number
        self.actor = nn.Sequential(nn.Linear(obs, 8), nn.ReLU(), nn.Linear(8, act), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(agents * (obs + act), 8), nn.ReLU(), nn.Linear(8, 1))
        self.actor_optim = torch.optim.SGD(self.actor.parameters(), lr=0.05)
        self.critic_optim = torch.optim.SGD(self.critic.parameters(), lr=0.05)

    def train(self, observations, actions, rewards):
        q_value = self.critic(torch.cat([*observations, *actions], dim=1))
        critic_loss = (rewards - q_value).pow(2).mean()
        mine = list(actions)
        mine[self.number] = self.actor(observations[self.number])
        actor_loss = -self.critic(torch.cat([*observations, *mine], dim=1)).mean()

        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()


torch.manual_seed(4)
agents = [Agent(number, 2) for number in range(2)]
observations = [torch.randn(6, 3) for _ in agents]
actions = [torch.rand(6, 2) for _ in agents]
for agent in agents:
    agent.train(observations, actions, torch.randn(6, 1))
networks = nn.ModuleList([network for agent in agents for network in (agent.actor, agent.critic)])
