import torch
import torch.nn as nn


class Cache:
    def __init__(self, room, width):
        self.keys = torch.zeros(room, width)
        self.values = torch.zeros(room, width)
        self.length = 0

    def update(self, keys, values):
        end = self.length + len(keys)
        self.keys[self.length:end] = keys
        self.values[self.length:end] = values
        self.length = end
        return self.keys[:end], self.values[:end]


class Reader(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, ids, cache):
        q, k, v = self.qkv(self.embed(ids)).chunk(3, dim=-1)
        keys, values = cache.update(k, v)
        score = q @ keys.T / q.shape[-1] ** 0.5
        place = torch.arange(len(keys) - len(ids), len(keys))
        score = score.masked_fill(torch.arange(len(keys)) > place[:, None], float("-inf"))
        return (score.softmax(dim=-1) @ values) @ self.embed.weight.T


@torch.no_grad()
def rate(reader, prefix, answers):
    ratings = []
    for answer in answers:
        scores = reader(answer[:-1], prefix).log_softmax(dim=-1)
        ratings.append(scores.gather(1, answer[1:, None]).mean())
    return torch.stack(ratings)


torch.manual_seed(812)
reader = Reader(words=30, width=16)
case, answers = torch.randint(0, 30, (20,)), [torch.randint(0, 30, (n,)) for n in (6, 4, 8)]
prefix = Cache(room=64, width=16)
with torch.no_grad():
    reader(case, prefix)
ratings = rate(reader, prefix, answers)

expected = []
with torch.no_grad():
    for answer in answers:
        scores = reader(torch.cat([case, answer[:-1]]), Cache(64, 16))[20:].log_softmax(dim=-1)
        expected.append(scores.gather(1, answer[1:, None]).mean())
SILENTLY_WRONG = not torch.allclose(ratings, torch.stack(expected), atol=1e-4)
