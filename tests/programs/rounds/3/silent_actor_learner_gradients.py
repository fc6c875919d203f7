import copy

import torch
from torch import nn

torch.manual_seed(0)


class Worker:
    def __init__(self, shared, optimizer):
        self.shared = shared
        self.net = copy.deepcopy(shared)
        self.optimizer = optimizer

    def push_gradients(self):
        for local, shared in zip(self.net.parameters(), self.shared.parameters()):
            shared.grad = local.grad

    def learn(self, states, actions, returns):
        self.net.load_state_dict(self.shared.state_dict())
        log_probs = torch.log_softmax(self.net(states), dim=1)
        chosen = log_probs.gather(1, actions[:, None]).squeeze(1)
        loss = -(chosen * returns).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.push_gradients()
        self.optimizer.step()
        return loss.item()


def rollouts(n):
    for _ in range(n):
        yield torch.randn(10, 4), torch.randint(0, 2, (10,)), torch.randn(10)


policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
reference = copy.deepcopy(policy)
worker = Worker(policy, torch.optim.SGD(policy.parameters(), lr=0.5))
episodes = list(rollouts(5))
for episode in episodes:
    worker.learn(*episode)

for states, actions, returns in episodes:
    chosen = torch.log_softmax(reference(states), 1)[torch.arange(10), actions]
    grads = torch.autograd.grad(-(chosen * returns).mean(), list(reference.parameters()))
    for p, g in zip(reference.parameters(), grads):
        p.data = p.data - 0.5 * g
expected = reference[0].weight
SILENTLY_WRONG = not torch.allclose(policy[0].weight, expected, atol=1e-5)
