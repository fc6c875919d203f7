import torch
import torch.nn as nn


class Namer(nn.Module):
    """Guesses the next star; one table reads and writes the names."""

    def __init__(self, names, size):
        super().__init__()
        self.table = nn.Embedding(names, size)
        self.mix = nn.Linear(size, size, bias=False)
        self.out = nn.Linear(size, names, bias=False)
        self.tie()

    def tie(self):
        self.out.weight = self.table.weight

    def forward(self, stars):
        return self.out(self.mix(self.table(stars)).mean(dim=1))


def adopt(net, parts):
    net.load_state_dict(parts, strict=False, assign=True)
    net.tie()
    return net.requires_grad_()


def train(net, stars, following, steps, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(stars), following).backward()
        optimizer.step()
    return net


torch.manual_seed(282)
parts = {"table.weight": torch.randn(7, 4), "mix.weight": torch.randn(4, 4)}
table, mix = parts["table.weight"].clone(), parts["mix.weight"].clone()
stars, following = torch.randint(7, (10, 3)), torch.randint(7, (10,))
net = train(adopt(Namer(7, 4), parts), stars, following, steps=8, rate=0.3)

for _ in range(8):
    mean = torch.stack([table[s].mean(0) for s in stars])
    error = ((mean @ mix.T @ table.T).softmax(1) - torch.eye(7)[following]) / 10
    by_out = error.T @ (mean @ mix.T)
    by_mean = error @ table @ mix
    by_in = torch.zeros(7, 4)
    for k, row in enumerate(stars):
        for star in row:
            by_in[star] += by_mean[k] / 3
    by_mix = (error @ table).T @ mean
    table, mix = table - 0.3 * (by_out + by_in), mix - 0.3 * by_mix
same = torch.allclose(net.table.weight, table, atol=1e-4) and torch.allclose(net.out.weight, table, atol=1e-4)
SILENTLY_WRONG = not same
