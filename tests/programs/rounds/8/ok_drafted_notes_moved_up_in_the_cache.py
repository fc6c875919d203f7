import torch
import torch.nn as nn


class NoteCache:
    def __init__(self, room, width):
        self.data = torch.zeros(2, room, width)
        self.length = 0

    def append(self, keys, values):
        end = self.length + len(keys)
        self.data[0, self.length:end].copy_(keys)
        self.data[1, self.length:end].copy_(values)
        self.length = end

    def accept(self, start, chosen):
        kept = self.data[:, start + chosen]
        target = self.data[:, start:start + len(chosen)]
        target.copy_(kept)
        self.length = start + len(chosen)

    def attend(self, query):
        keys, values = self.data[:, :self.length]
        score = keys @ query / len(query) ** 0.5
        return score.softmax(dim=0) @ values


torch.manual_seed(862)
embed, keys, values = nn.Embedding(25, 8), nn.Linear(8, 8), nn.Linear(8, 8)
opening, draft = torch.randint(0, 25, (6,)), torch.randint(0, 25, (7,))
chosen = torch.tensor([1, 3, 4, 6])
with torch.no_grad():
    cache = NoteCache(32, 8)
    for notes in (opening, draft):
        cache.append(keys(embed(notes)), values(embed(notes)))
    cache.accept(start=6, chosen=chosen)
    query = torch.randn(8)
    answer = cache.attend(query)

    melody = embed(torch.cat([opening, draft[chosen]]))
    score = keys(melody) @ query / 8 ** 0.5
    expected = score.softmax(dim=0) @ values(melody)
SILENTLY_WRONG = not torch.allclose(answer, expected, atol=1e-5)
