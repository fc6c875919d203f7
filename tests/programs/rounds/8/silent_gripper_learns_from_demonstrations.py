import copy

import torch
import torch.nn as nn


class Demonstrations:
    def __init__(self, states, actions, batch):
        self.states, self.actions = states, actions
        self.rows = torch.arange(len(states))
        self.state_buffer = torch.empty(batch, states.shape[1])
        self.action_buffer = torch.empty(batch, actions.shape[1])

    def validation_part(self, count):
        part = copy.copy(self)
        part.rows, self.rows = self.rows[:count], self.rows[count:]
        return part

    def fetch(self, at):
        rows = self.rows[at % len(self.rows)]
        torch.index_select(self.states, 0, rows, out=self.state_buffer)
        torch.index_select(self.actions, 0, rows, out=self.action_buffer)
        return self.state_buffer, self.action_buffer


def train(net, data, held_out, steps, lr):
    curve = []
    for step in range(steps):
        states, actions = data.fetch(torch.arange(8 * step, 8 * step + 8))
        if step % 4 == 0:
            with torch.no_grad():
                x, y = held_out.fetch(torch.arange(8))
                curve.append((net(x) - y).pow(2).mean())
        grads = torch.autograd.grad((net(states) - actions).pow(2).mean(), list(net.parameters()))
        with torch.no_grad():
            for p, g in zip(net.parameters(), grads):
                p.sub_(lr * g)
    return torch.stack(curve)


torch.manual_seed(818)
states = torch.randn(64, 5)
actions = states @ torch.randn(5, 2) + 0.3 * torch.randn(64, 2)
net = nn.Linear(5, 2, bias=False)
w = net.weight.detach().T.clone()
data = Demonstrations(states, actions, batch=8)
held_out = data.validation_part(16)
train(net, data, held_out, steps=20, lr=0.1)

for step in range(20):
    rows = 16 + torch.arange(8 * step, 8 * step + 8) % 48
    x, y = states[rows], actions[rows]
    w = w - 0.1 * 2 * x.T @ (x @ w - y) / 16
SILENTLY_WRONG = not torch.allclose(net.weight.T, w, atol=1e-4)
