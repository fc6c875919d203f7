import torch


class Guide(torch.nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = torch.nn.Embedding(words, width)
        self.read = torch.nn.Linear(width, words)

    def forward(self, words):
        return self.read(self.table(words)).bfloat16()


class Sampler:
    def __init__(self, temperature, top, seed):
        self.temperature, self.top = temperature, top
        self.dice = torch.Generator().manual_seed(seed)

    def draw(self, logits):
        scores = logits.float().contiguous()
        scores.div_(self.temperature)
        floor = scores.topk(self.top, dim=1).values[:, -1:]
        scores.masked_fill_(scores < floor, float("-inf"))
        return torch.multinomial(scores.softmax(dim=1), 1, generator=self.dice)


@torch.no_grad()
def replies(guide, sampler, words, length):
    total = torch.zeros(len(words), 1)
    for _ in range(length):
        logits = guide(words)
        picks = sampler.draw(logits)
        total += logits.float().log_softmax(dim=1).gather(1, picks)
        words.copy_(picks.squeeze(1))
    return words, total.squeeze(1)


class Recorder(Sampler):
    def draw(self, logits):
        picks = super().draw(logits)
        self.picks.append(picks.squeeze(1))
        return picks


torch.manual_seed(237)
guide, recorder = Guide(15, 6), Recorder(0.5, 6, seed=4)
recorder.picks = []
start = torch.randint(0, 15, (8,))
last, total = replies(guide, recorder, start.clone(), 5)

with torch.no_grad():
    expected, words = torch.zeros(8), start
    for picks in recorder.picks:
        scores = guide(words).double()
        expected = expected + (scores[torch.arange(8), picks] - scores.logsumexp(dim=1)).float()
        words = picks
SILENTLY_WRONG = not (torch.equal(last, words) and torch.allclose(total, expected, atol=1e-4))
