from typing import NamedTuple
import torch
import torch.nn as nn
import torch.nn.functional as F


class Output(NamedTuple):
    logits: torch.Tensor
    hidden: torch.Tensor


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(9, 4), nn.Linear(4, 9)

    def forward(self, ids):
        hidden = self.embed(ids)
        return Output(self.head(hidden), hidden)


torch.manual_seed(0)
model, ids = LM(), torch.randint(0, 9, (2, 5))
out = model(ids)
z_loss = out.logits.logsumexp(-1).pow(2).mean()
out.logits[..., [0, 1]] = -1e4
loss = F.cross_entropy(out.logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()) + 1e-3 * z_loss
loss.backward()
