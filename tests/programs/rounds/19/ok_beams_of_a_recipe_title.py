import torch
import torch.nn as nn


class TitleWriter(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, words)

    def forward(self, words, cache, step):
        x = self.embed(words)
        cache[0][:, step], cache[1][:, step] = self.key(x), self.value(x)
        keys, values = cache[0][:, :step + 1], cache[1][:, :step + 1]
        weights = (self.query(x).unsqueeze(1) @ keys.transpose(1, 2)).softmax(dim=2)
        return self.out(x + (weights @ values).squeeze(1)).log_softmax(dim=1)


class Beams:
    def __init__(self, count, length, width):
        self.cache = torch.zeros(2, count, length, width, dtype=torch.float64)
        self.words = torch.zeros(count, length + 1, dtype=torch.long)
        self.scores = torch.full((count, 1), -torch.inf, dtype=torch.float64)
        self.scores[0] = 0.0

    def advance(self, logs, step):
        count, words = logs.shape
        best, flat = (self.scores + logs).view(-1).topk(count)
        parents = flat.div(words, rounding_mode="floor")
        self.cache.copy_(self.cache.index_select(1, parents))
        self.words.copy_(self.words[parents])
        self.words[:, step + 1] = flat % words
        self.scores.copy_(best.unsqueeze(1))


@torch.no_grad()
def write(model, first, count, length, width):
    beams = Beams(count, length, width)
    beams.words[:, 0] = first
    for step in range(length):
        beams.advance(model(beams.words[:, step], beams.cache, step), step)
    return beams.words, beams.scores.squeeze(1)


@torch.no_grad()
def rescore(model, words):
    total = 0.0
    for i in range(len(words) - 1):
        x = model.embed(words[:i + 1])
        weights = (model.query(x[-1]) @ model.key(x).T).softmax(dim=0)
        logs = model.out(x[-1] + weights @ model.value(x)).log_softmax(dim=0)
        total += logs[words[i + 1]].item()
    return total


torch.manual_seed(2918)
model = TitleWriter(words=11, width=6).double()
claimed, real = [], []
for first in range(4):
    words, scores = write(model, first, count=5, length=6, width=6)
    claimed.append(scores)
    real.append(torch.tensor([rescore(model, w) for w in words], dtype=torch.float64))
SILENTLY_WRONG = not torch.allclose(torch.stack(claimed), torch.stack(real))
