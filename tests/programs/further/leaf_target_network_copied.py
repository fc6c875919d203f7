import copy
import torch
import torch.nn as nn


class Agent:
    def __init__(self):
        self.online = nn.Linear(3, 2)
        self.target = copy.deepcopy(self.online)

    def sync(self):
        for tp, p in zip(self.target.parameters(), self.online.parameters()):
            tp.copy_(p)


torch.manual_seed(0)
agent = Agent()
agent.online(torch.randn(4, 3)).mean().backward()
agent.sync()
