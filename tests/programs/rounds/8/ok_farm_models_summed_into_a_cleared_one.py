import copy

import torch
import torch.nn as nn


class FarmServer:
    def __init__(self, model):
        self.model = model

    def aggregate(self, uploaded, shares):
        self.model = copy.deepcopy(uploaded[0])
        for p in self.model.parameters():
            p.data.zero_()
        for client, share in zip(uploaded, shares):
            for total, p in zip(self.model.parameters(), client.parameters()):
                total.data += p.data * share


def train_locally(client, x, y):
    optimizer = torch.optim.SGD(client.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.mse_loss(client(x), y).backward()
        optimizer.step()
    return client


torch.manual_seed(869)
farms = [(torch.randn(n, 4), torch.randn(n, 1)) for n in (12, 24, 6)]
server = FarmServer(nn.Linear(4, 1, bias=False))
w = server.model.weight.detach().clone()
for _ in range(4):
    clients = [train_locally(copy.deepcopy(server.model), x, y) for x, y in farms]
    server.aggregate(clients, [len(x) / 42 for x, _ in farms])

for _ in range(4):
    moved = []
    for x, y in farms:
        v = w
        for _ in range(3):
            v = v - 0.1 * 2 * (x @ v.T - y).T @ x / len(x)
        moved.append(len(x) / 42 * v)
    w = sum(moved)
SILENTLY_WRONG = not torch.allclose(server.model.weight, w, atol=1e-5)
