import torch
import torch.nn.functional as F


class Alignment:
    """Forward variables of connectionist temporal classification, kept in one table."""

    def __init__(self, frames, labels):
        self.labels = torch.zeros(2 * len(labels) + 1, dtype=torch.long)
        self.labels[1::2] = labels
        self.table = torch.full((frames, len(self.labels)), -torch.inf, dtype=torch.float64)
        skip = torch.zeros(len(self.labels), dtype=torch.bool)
        skip[2:] = (self.labels[2:] != 0) & (self.labels[2:] != self.labels[:-2])
        self.skip = skip

    @torch.no_grad()
    def fill(self, logs):
        table = self.table
        table[0, :2] = logs[0, self.labels[:2]]
        for t in range(1, len(logs)):
            before, now = table[t - 1], table[t]
            now.copy_(before)
            now[1:] = torch.logaddexp(now[1:], before[:-1])
            jump = self.skip.nonzero().squeeze(1)
            now[jump] = torch.logaddexp(now[jump], before[jump - 2])
            now += logs[t, self.labels]
        return torch.logaddexp(table[-1, -1], table[-1, -2])


def word_losses(scores, words):
    losses = []
    for logs, word in zip(scores.log_softmax(dim=2), words):
        losses.append(-Alignment(len(logs), word).fill(logs))
    return torch.stack(losses)


torch.manual_seed(2914)
scores = torch.randn(5, 12, 6, dtype=torch.float64)
words = [torch.randint(1, 6, (n,)) for n in (3, 4, 2, 5, 4)]
words[1][2] = words[1][1]
losses = word_losses(scores, words)

expected = F.ctc_loss(
    scores.log_softmax(dim=2).transpose(0, 1), torch.cat(words),
    torch.full((5,), 12), torch.tensor([len(w) for w in words]), reduction="none",
)
SILENTLY_WRONG = not torch.allclose(losses, expected)
