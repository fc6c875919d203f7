import torch
import torch.nn as nn
import torch.nn.functional as F


class Speller(nn.Module):
    def __init__(self, letters, width):
        super().__init__()
        self.embed = nn.Embedding(letters, width, dtype=torch.float64)
        self.head = nn.Linear(width, letters, dtype=torch.float64)
        self.head.weight = self.embed.weight

    def forward(self, text):
        return self.head(self.embed(text))


def teach(net, texts, rate, bound):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    params = [*net.embed.parameters(), *net.head.parameters()]
    norms = []
    for text in texts:
        optimizer.zero_grad()
        F.cross_entropy(net(text[:-1]), text[1:]).backward()
        norms.append(nn.utils.clip_grad_norm_(params, bound))
        optimizer.step()
    return norms


torch.manual_seed(90)
net = Speller(letters=7, width=4)
table, bias = net.embed.weight.detach().clone(), net.head.bias.detach().clone()
texts = [torch.randint(7, (20,)) for _ in range(12)]
norms = teach(net, texts, rate=0.4, bound=0.6)

one_hot = torch.eye(7, dtype=torch.float64)
for text in texts:
    now, after = one_hot[text[:-1]], one_hot[text[1:]]
    hidden = now @ table
    miss = (torch.softmax(hidden @ table.T + bias, 1) - after) / len(now)
    d_table = miss.T @ hidden + now.T @ (miss @ table)
    d_bias = miss.sum(0)
    norm = (d_table.square().sum() + d_bias.square().sum()).sqrt()
    scale = 0.4 * min(1.0, 0.6 / (norm.item() + 1e-6))
    table, bias = table - scale * d_table, bias - scale * d_bias
SILENTLY_WRONG = not torch.allclose(net.embed.weight, table, atol=1e-6)
