import itertools

import torch
import torch.nn as nn


class TagChain(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.start = nn.Parameter(torch.randn(tags))
        self.end = nn.Parameter(torch.randn(tags))
        self.move = nn.Parameter(torch.randn(tags, tags))

    def forward(self, emissions, tags):
        """Negative log likelihood of the tags; emissions are (length, batch, tags)."""
        return (self.normalizer(emissions) - self.path(emissions, tags)).mean()

    def path(self, emissions, tags):
        batch = torch.arange(tags.shape[1])
        score = self.start[tags[0]] + emissions[0, batch, tags[0]]
        for i in range(1, len(tags)):
            score = score + self.move[tags[i - 1], tags[i]] + emissions[i, batch, tags[i]]
        return score + self.end[tags[-1]]

    def normalizer(self, emissions):
        score = emissions[0]
        score += self.start
        for emission in emissions[1:]:
            paths = score.unsqueeze(2) + self.move
            score = paths.logsumexp(dim=1) + emission
        score = score + self.end
        return score.logsumexp(dim=1)


class Tagger(nn.Module):
    def __init__(self, words, width, tags):
        super().__init__()
        self.embed, self.score = nn.Embedding(words, width), nn.Linear(width, tags)
        self.chain = TagChain(tags)

    def forward(self, words, tags):
        return self.chain(self.score(self.embed(words)), tags)


torch.manual_seed(1911)
tagger = Tagger(words=20, width=6, tags=3).double()
words, tags = torch.randint(0, 20, (4, 5)), torch.randint(0, 3, (4, 5))
loss = tagger(words, tags)
loss.backward()
slope = tagger.chain.start.grad.clone()

tagger.zero_grad()
chain, losses = tagger.chain, []
for column in range(5):
    scores = tagger.embed(words[:, column]) @ tagger.score.weight.T + tagger.score.bias
    totals = {}
    for path in itertools.product(range(3), repeat=4):
        moves = sum(chain.move[a, b] for a, b in zip(path, path[1:]))
        said = sum(scores[i, tag] for i, tag in enumerate(path))
        totals[path] = chain.start[path[0]] + moves + said + chain.end[path[-1]]
    whole = torch.logsumexp(torch.stack(list(totals.values())), dim=0)
    losses.append(whole - totals[tuple(tags[:, column].tolist())])
expected = torch.stack(losses).mean()
expected.backward()
SILENTLY_WRONG = not (torch.allclose(loss, expected) and torch.allclose(slope, chain.start.grad))
