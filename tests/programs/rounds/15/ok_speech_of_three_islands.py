import torch
import torch.nn as nn


class Adapted(nn.Module):
    def __init__(self, base, rank, scale):
        super().__init__()
        self.base, self.scale, self.merged = base, scale, False
        self.down = nn.Parameter(0.3 * torch.randn(rank, base.in_features))
        self.up = nn.Parameter(0.3 * torch.randn(base.out_features, rank))

    def merge(self):
        if not self.merged:
            self.base.weight.data += self.scale * self.up @ self.down
            self.merged = True

    def unmerge(self):
        if self.merged:
            self.base.weight.data -= self.scale * self.up @ self.down
            self.merged = False

    def forward(self, x):
        return self.base(x)


class Speaker(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.hidden = Adapted(nn.Linear(width, width), rank=2, scale=0.5)
        self.out = nn.Linear(width, words)

    def forward(self, words):
        return self.out(torch.tanh(self.hidden(self.table(words).mean(dim=1))))


@torch.no_grad()
def answer(speaker, batches):
    plain, adapted = [], []
    for words in batches:
        plain.append(speaker(words))
        speaker.hidden.merge()
        adapted.append(speaker(words))
        speaker.hidden.unmerge()
    return torch.cat(plain), torch.cat(adapted)


torch.manual_seed(156)
speaker = Speaker(words=9, width=5)
batches = [torch.randint(0, 9, (3, 4)) for _ in range(4)]
weight = speaker.hidden.base.weight.detach().clone()
plain, adapted = answer(speaker, batches)

with torch.no_grad():
    middle, right = speaker.table.weight[torch.cat(batches)].mean(dim=1), []
    for matrix in (weight, weight + 0.5 * speaker.hidden.up @ speaker.hidden.down):
        hidden = torch.tanh(middle @ matrix.T + speaker.hidden.base.bias)
        right.append(hidden @ speaker.out.weight.T + speaker.out.bias)
close = torch.allclose(plain, right[0], atol=1e-5) and torch.allclose(adapted, right[1], atol=1e-5)
SILENTLY_WRONG = not close
