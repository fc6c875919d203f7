import torch
import torch.nn as nn
import torch.nn.functional as F


class RhymeNet(nn.Module):
    def __init__(self, words, width, rhymes):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.head = nn.Linear(width, rhymes)

    def forward(self, words):
        return self.head(self.table(words).mean(dim=1))


def run_epoch(net, optimizer, batches):
    net.train()
    optimizer.zero_grad()
    total, count = 0.0, 0
    for words, rhymes in batches:
        loss = F.cross_entropy(net(words), rhymes)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(words)
        count += len(words)
    return total / count


def fit(net, batches, epochs, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    return [run_epoch(net, optimizer, batches) for _ in range(epochs)]


torch.manual_seed(179)
net = RhymeNet(words=10, width=4, rhymes=3)
start = [p.detach().clone() for p in net.parameters()]
batches = [(torch.randint(0, 10, (5, 4)), torch.randint(0, 3, (5,))) for _ in range(4)]
losses = fit(net, batches, epochs=3, rate=0.2)

table, weight, bias = start
expected = []
for _ in range(3):
    seen = []
    for words, rhymes in batches:
        parts = [p.requires_grad_() for p in (table, weight, bias)]
        scores = table[words].mean(dim=1) @ weight.T + bias
        loss = (scores.logsumexp(dim=1) - scores.gather(1, rhymes[:, None])[:, 0]).mean()
        slopes = torch.autograd.grad(loss, parts)
        table, weight, bias = [(p - 0.2 * s).detach() for p, s in zip(parts, slopes)]
        seen.append(loss.item())
    expected.append(sum(seen) / len(seen))
SILENTLY_WRONG = not torch.allclose(torch.tensor(losses), torch.tensor(expected), atol=1e-4)
