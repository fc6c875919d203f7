import torch
import torch.nn as nn
import torch.nn.functional as F


def masked_loss(logits, labels, mask):
    flat = labels.view(-1)
    flat.masked_fill_(~mask.view(-1), -100)
    summed = F.cross_entropy(logits.flatten(0, 1), flat, ignore_index=-100, reduction="sum")
    return summed / mask.sum()


class DialogueModel(nn.Module):
    def __init__(self, words, width=12):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, tokens):
        return self.out(self.mix(self.embed(tokens))[0])


torch.manual_seed(19)
words = 30
model = DialogueModel(words)
tokens = torch.randint(0, words, (6, 14))
batch = {"tokens": tokens[:, :-1].contiguous(), "labels": tokens[:, 1:].contiguous()}
turns = torch.arange(13) // 3 % 2 == 0
batch["caller"] = turns.expand(6, 13).contiguous()
batch["agent"] = ~batch["caller"]

with torch.no_grad():
    logits = model(batch["tokens"])
    losses = {name: masked_loss(logits, batch["labels"], batch[name]) for name in ("caller", "agent")}
    each = -logits.log_softmax(dim=2).gather(2, tokens[:, 1:, None]).squeeze(2)
    expected = {name: each[batch[name]].mean() for name in ("caller", "agent")}
SILENTLY_WRONG = any(not torch.allclose(losses[name], expected[name], atol=1e-4) for name in losses)
