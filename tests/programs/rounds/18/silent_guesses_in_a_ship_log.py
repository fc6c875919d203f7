import torch
import torch.nn as nn


class LogReader(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.table = nn.Embedding(words, size)
        self.cell = nn.GRUCell(size, size)
        self.out = nn.Linear(size, words)


class Beams:
    """Decoder states of several sentences, each with the same number of beams."""

    def __init__(self, reader, start, width):
        self.reader = reader
        self.states = start.repeat(width, 1, 1)
        self.words = torch.zeros(width, start.shape[0], dtype=torch.long)
        self.chances = torch.full((width, start.shape[0]), -torch.inf)
        self.chances[0] = 0

    def reorder(self, sentence, parents):
        own = self.states[:, sentence]
        own.data = own.index_select(0, parents)

    def step(self):
        width, sentences, size = self.states.shape
        seen = self.reader.table(self.words).view(-1, size)
        states = self.reader.cell(seen, self.states.view(-1, size))
        self.states = states.view(width, sentences, size)
        logs = self.reader.out(self.states).log_softmax(dim=-1) + self.chances[..., None]
        for s in range(sentences):
            best = logs[:, s].flatten().topk(width)
            self.chances[:, s] = best.values
            self.words[:, s] = best.indices % logs.shape[-1]
            self.reorder(s, best.indices // logs.shape[-1])


@torch.no_grad()
def read(reader, start, steps, width):
    beams = Beams(reader, start, width)
    for _ in range(steps):
        beams.step()
    return beams.chances


torch.manual_seed(6)
reader = LogReader(words=7, size=5)
for p in reader.parameters():
    p.data.mul_(3)
start = torch.randn(2, 5)
chances = read(reader, start, steps=5, width=3)

expected = []
with torch.no_grad():
    for begin in start:
        paths = [(torch.zeros(()), torch.tensor(0), begin)]
        for _ in range(5):
            offers = []
            for chance, word, state in paths:
                new = reader.cell(reader.table(word)[None], state[None])
                logs = reader.out(new)[0].log_softmax(0)
                offers += [(chance + logs[w], torch.tensor(w), new[0]) for w in range(7)]
            paths = sorted(offers, key=lambda offer: -offer[0].item())[:3]
        expected.append(torch.stack([path[0] for path in paths]))
SILENTLY_WRONG = not torch.allclose(chances, torch.stack(expected, dim=1), atol=1e-3)
