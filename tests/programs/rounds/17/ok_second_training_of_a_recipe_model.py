import torch
import torch.nn as nn
import torch.nn.functional as F


class Recipes(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width, dtype=torch.float64)
        self.head = nn.Linear(width, words, bias=False, dtype=torch.float64)
        self.tie()

    def tie(self):
        self.head.weight = self.embed.weight
        return self

    def forward(self, words):
        return self.head(torch.tanh(self.embed(words)))


def restored(checkpoint, words, width):
    with torch.device("meta"):
        net = Recipes(words, width)
    net.load_state_dict(checkpoint, assign=True)
    return net.tie()


def train(net, pairs, rate, rounds):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(rounds):
        for now, after in pairs:
            optimizer.zero_grad()
            F.cross_entropy(net(now), after).backward()
            optimizer.step()
    return net


torch.manual_seed(95)
first = Recipes(8, 3)
pairs = [(torch.randint(8, (12,)), torch.randint(8, (12,))) for _ in range(5)]
checkpoint = {name: tensor.clone() for name, tensor in first.state_dict().items()}
net = train(restored(checkpoint, 8, 3), pairs, rate=0.4, rounds=4)
with torch.no_grad():
    scores = net(torch.arange(8))

table = first.embed.weight.detach().clone()
for _ in range(4):
    for now, after in pairs:
        table = table.detach().requires_grad_()
        slope, = torch.autograd.grad(F.cross_entropy(torch.tanh(table[now]) @ table.T, after), table)
        table = table - 0.4 * slope
table = table.detach()
SILENTLY_WRONG = not torch.allclose(scores, torch.tanh(table) @ table.T)
