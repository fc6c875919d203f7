import torch
import torch.nn as nn


class RepetitionPenalty:
    def __init__(self, penalty):
        self.penalty = penalty

    def __call__(self, tokens, scores):
        seen = scores.gather(1, tokens)
        seen = torch.where(seen < 0, seen * self.penalty, seen / self.penalty)
        return scores.scatter_(1, tokens, seen)


class ForbiddenWords:
    def __init__(self, words):
        self.words = words

    def __call__(self, tokens, scores):
        scores[:, self.words] = -50.0
        return scores


@torch.no_grad()
def write_headline(model, tokens, processors, length):
    raw = []
    for _ in range(length):
        logits = model(tokens)
        raw.append(logits)
        scores = logits
        for processor in processors:
            scores = processor(tokens, scores)
        tokens = torch.cat([tokens, scores.argmax(dim=1, keepdim=True)], dim=1)
    return tokens, raw


class TinyWriter(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, dim), nn.Linear(dim, words)

    def forward(self, tokens):
        return self.out(torch.tanh(self.embed(tokens).cumsum(dim=1)[:, -1]))


torch.manual_seed(607)
writer = TinyWriter(15, 8)
prompt = torch.tensor([[1, 4], [2, 7]])
headline, raw = write_headline(writer, prompt, [RepetitionPenalty(1.8), ForbiddenWords([3, 5])], 6)
confidence = sum(torch.log_softmax(r, dim=1).gather(1, headline[:, 2 + i:3 + i]) for i, r in enumerate(raw))

with torch.no_grad():
    expected = sum(torch.log_softmax(writer(headline[:, :n]), dim=1).gather(1, headline[:, n:n + 1]) for n in range(2, 8))
SILENTLY_WRONG = not torch.allclose(confidence, expected, atol=1e-4)
