import copy

import torch
import torch.nn as nn


class Hospital:
    def __init__(self, x, y, rate, epochs):
        self.x, self.y, self.rate, self.epochs = x, y, rate, epochs

    def train(self, model):
        optimizer = torch.optim.SGD(model.parameters(), lr=self.rate)
        for _ in range(self.epochs):
            for x, y in zip(self.x.split(5), self.y.split(5)):
                optimizer.zero_grad()
                (model(x) - y).square().mean().backward()
                optimizer.step()
        return copy.deepcopy(model.state_dict())


def average(states):
    return {name: torch.stack([s[name] for s in states]).mean(dim=0) for name in states[0]}


def federate(server, hospitals, rounds):
    for _ in range(rounds):
        states = []
        for client in hospitals:
            states.append(client.train(server))
        server.load_state_dict(average(states))
    return server


torch.manual_seed(185)
server = nn.Linear(3, 1)
w, b = server.weight.detach()[0].clone(), server.bias.detach().clone()
hospitals = [Hospital(torch.randn(10, 3), k + torch.randn(10, 1), 0.1, 2) for k in range(3)]
federate(server, hospitals, rounds=3)

for _ in range(3):
    ends = []
    for hospital in hospitals:
        u, c = w, b
        for x, y in 2 * [(hospital.x[:5], hospital.y[:5, 0]), (hospital.x[5:], hospital.y[5:, 0])]:
            error = 2 * (x @ u + c - y) / 5
            u, c = u - 0.1 * error @ x, c - 0.1 * error.sum()
        ends.append(torch.cat([u, c]))
    w, b = torch.stack(ends).mean(dim=0).split([3, 1])
SILENTLY_WRONG = not torch.allclose(server.weight[0], w, atol=1e-5)
