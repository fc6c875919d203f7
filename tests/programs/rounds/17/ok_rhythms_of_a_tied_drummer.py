import torch
import torch.nn as nn
import torch.nn.functional as F


class Drummer(nn.Module):
    def __init__(self, strokes, width):
        super().__init__()
        self.embed = nn.Embedding(strokes, width, dtype=torch.float64)
        self.head = nn.Linear(width, strokes, dtype=torch.float64)
        self.head.weight = self.embed.weight

    def forward(self, bar):
        return self.head(self.embed(bar))


def teach(net, bars, rate, bound):
    params = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(params, lr=rate)
    norms = []
    for bar in bars:
        optimizer.zero_grad()
        F.cross_entropy(net(bar[:-1]), bar[1:]).backward()
        norms.append(nn.utils.clip_grad_norm_(params, bound))
        optimizer.step()
    return torch.stack(norms)


torch.manual_seed(47)
net = Drummer(strokes=5, width=3)
table, bias = net.embed.weight.detach().clone(), net.head.bias.detach().clone()
bars = [torch.randint(5, (16,)) for _ in range(10)]
norms = teach(net, bars, rate=0.5, bound=0.4)

one_hot, wanted = torch.eye(5, dtype=torch.float64), []
for bar in bars:
    now, after = one_hot[bar[:-1]], one_hot[bar[1:]]
    hidden = now @ table
    miss = (torch.softmax(hidden @ table.T + bias, 1) - after) / len(now)
    d_table = miss.T @ hidden + now.T @ (miss @ table)
    d_bias = miss.sum(0)
    wanted.append((d_table.square().sum() + d_bias.square().sum()).sqrt())
    scale = 0.5 * min(1.0, 0.4 / (wanted[-1].item() + 1e-6))
    table, bias = table - scale * d_table, bias - scale * d_bias
SILENTLY_WRONG = not (torch.allclose(net.embed.weight, table) and torch.allclose(norms, torch.stack(wanted)))
