import torch
import torch.nn as nn


class Adapted(nn.Module):
    def __init__(self, base, rank, scale):
        super().__init__()
        self.base, self.scale = base, scale
        self.down = nn.Parameter(0.3 * torch.randn(rank, base.in_features))
        self.up = nn.Parameter(0.3 * torch.randn(base.out_features, rank))
        self.active = True

    def delta(self):
        return self.scale * self.up @ self.down

    def merge(self):
        if self.active:
            self.base.weight.data += self.delta()

    def forward(self, x):
        return self.base(x)


class Speaker(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.hidden = Adapted(nn.Linear(width, width), rank=2, scale=0.5)
        self.out = Adapted(nn.Linear(width, words), rank=2, scale=0.5)

    def forward(self, words):
        return self.out(torch.tanh(self.hidden(self.table(words).mean(dim=1))))


@torch.no_grad()
def answer(speaker, batches):
    chosen = []
    for words in batches:
        for module in speaker.modules():
            if isinstance(module, Adapted):
                module.merge()
        chosen.append(speaker(words).log_softmax(dim=1))
    return torch.cat(chosen)


torch.manual_seed(155)
speaker = Speaker(words=11, width=6)
batches = [torch.randint(0, 11, (4, 5)) for _ in range(3)]
with torch.no_grad():
    first = speaker.hidden.base.weight + 0.5 * speaker.hidden.up @ speaker.hidden.down
    second = speaker.out.base.weight + 0.5 * speaker.out.up @ speaker.out.down
answers = answer(speaker, batches)

with torch.no_grad():
    middle = speaker.table.weight[torch.cat(batches)].mean(dim=1)
    middle = torch.tanh(middle @ first.T + speaker.hidden.base.bias)
    scores = middle @ second.T + speaker.out.base.bias
    expected = scores - scores.logsumexp(dim=1, keepdim=True)
SILENTLY_WRONG = not torch.allclose(answers, expected, atol=1e-5)
