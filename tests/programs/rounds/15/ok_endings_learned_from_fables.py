import torch
import torch.nn as nn
import torch.nn.functional as F


class EndingNet(nn.Module):
    def __init__(self, words, width, endings):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.head = nn.Linear(width, endings)

    def forward(self, words):
        return self.head(self.table(words).mean(dim=1))


def run_epoch(net, optimizer, batches, parts):
    total = torch.zeros(())
    for words, endings in batches:
        pieces = list(zip(words.chunk(parts), endings.chunk(parts)))
        for some, right in pieces:
            loss = F.cross_entropy(net(some), right) * len(some) / len(words)
            loss.backward()
            total += loss.detach()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    return total / len(batches)


def fit(net, batches, epochs, rate, parts):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    return [run_epoch(net, optimizer, batches, parts) for _ in range(epochs)]


torch.manual_seed(180)
net = EndingNet(words=9, width=3, endings=4)
start = [p.detach().clone() for p in net.parameters()]
batches = [(torch.randint(0, 9, (7, 5)), torch.randint(0, 4, (7,))) for _ in range(3)]
losses = fit(net, batches, epochs=3, rate=0.3, parts=3)

table, weight, bias = start
expected = []
for _ in range(3):
    seen = []
    for words, endings in batches:
        parts = [p.requires_grad_() for p in (table, weight, bias)]
        scores = table[words].mean(dim=1) @ weight.T + bias
        loss = (scores.logsumexp(dim=1) - scores.gather(1, endings[:, None])[:, 0]).mean()
        slopes = torch.autograd.grad(loss, parts)
        table, weight, bias = [(p - 0.3 * s).detach() for p, s in zip(parts, slopes)]
        seen.append(loss.item())
    expected.append(sum(seen) / len(seen))
SILENTLY_WRONG = not torch.allclose(torch.stack(losses), torch.tensor(expected), atol=1e-4)
