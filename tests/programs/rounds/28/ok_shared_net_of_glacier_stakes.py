import torch
from torch import nn


class Stake:
    def __init__(self, net, x, y):
        self.net, self.x, self.y = net, x, y

    def train(self, content):
        self.net.load_state_dict(content)
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (self.net(self.x).squeeze(1) - self.y).square().mean().backward()
            optimizer.step()
        return {key: value.clone() for key, value in self.net.state_dict().items()}


def one_round(net, stakes):
    content = {key: value.clone() for key, value in net.state_dict().items()}
    replies = [stake.train(content) for stake in stakes]
    net.load_state_dict({key: sum(r[key] for r in replies) / len(replies) for key in content})


torch.manual_seed(61)
net = nn.Linear(2, 1, bias=False)
data = []
for melt in (0.5, 1.5, -1.0):
    x = torch.randn(12, 2)
    data.append((x, melt * x[:, 0] + x[:, 1]))
stakes = [Stake(net, x, y) for x, y in data]
w = net.weight.detach()[0].clone()
for _ in range(3):
    one_round(net, stakes)
print("merged weight", net.weight.tolist())

for _ in range(3):
    ends = []
    for x, y in data:
        v = w - 0.2 * (x @ w - y) @ x / 12
        ends.append(v - 0.2 * (x @ v - y) @ x / 12)
    w = sum(ends) / 3
SILENTLY_WRONG = not torch.allclose(net.weight[0], w, atol=1e-4)
