import torch
import torch.nn as nn


def token_losses(logits, labels):
    logits = logits.float()
    logits -= logits.amax(dim=-1, keepdim=True)
    own = logits.gather(-1, labels[..., None]).squeeze(-1)
    torch.exp(logits, out=logits)
    return logits.sum(dim=-1).log() - own


class Writer(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.cell, self.out = nn.GRU(width, width, batch_first=True), nn.Linear(width, words)

    def forward(self, tokens):
        return self.out(self.cell(self.embed(tokens))[0])


@torch.no_grad()
def evaluate(writer, batches):
    loss, spread, count = 0.0, 0.0, 0
    for tokens in batches:
        logits = writer(tokens[:, :-1])
        labels = tokens[:, 1:]
        loss += token_losses(logits, labels).sum().item()
        spread += logits.logsumexp(dim=-1).square().sum().item()
        count += labels.numel()
    return torch.tensor([loss / count, spread / count])


torch.manual_seed(115)
writer = Writer(words=30, width=8)
batches = [torch.randint(0, 30, (4, 9)) for _ in range(3)]
report = evaluate(writer, batches)

with torch.no_grad():
    scores = torch.cat([writer(tokens[:, :-1]) for tokens in batches])
labels = torch.cat([tokens[:, 1:] for tokens in batches])
sums = scores.double().exp().sum(dim=-1).log()
own = scores.double().gather(-1, labels[..., None]).squeeze(-1)
expected = torch.stack([(sums - own).mean(), sums.square().mean()]).float()
SILENTLY_WRONG = not torch.allclose(report, expected, atol=1e-4)
