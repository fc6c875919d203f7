from itertools import cycle, islice

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class NoteModel(nn.Module):
    """Onsets and loudness of the notes in a frame of a music box."""

    def __init__(self, bins, notes):
        super().__init__()
        self.onset = nn.Linear(bins, notes)
        self.loud = nn.Linear(bins, notes)

    def losses(self, frame, onset, loud):
        played = nn.functional.binary_cross_entropy_with_logits(self.onset(frame), onset)
        off = (onset * (self.loud(frame) - loud).pow(2)).sum() / onset.sum()
        return {"onset": played, "loud": off}


def train(model, loader, iterations, lr, clip):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    history = []
    for batch in islice(cycle(loader), iterations):
        losses = model.losses(*batch)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        clip_grad_norm_(model.parameters(), clip)
        history.append(loss.item())
    return history


torch.manual_seed(22)
frame = torch.rand(60, 10)
onset = (torch.rand(60, 4) < 0.4).float()
loud = 6 * frame[:, :4]
loader = list(zip(frame.split(15), onset.split(15), loud.split(15)))
model = NoteModel(10, 4)
params = [p.detach().clone() for p in model.parameters()]
history = train(model, loader, iterations=12, lr=0.1, clip=1.0)
print("losses", history[0], history[-1])

for k in range(12):
    x, y, z = loader[k % 4]
    a, b, c, d = params
    up = ((x @ a.T + b).sigmoid() - y) / y.numel()
    off = 2 * y * (x @ c.T + d - z) / y.sum()
    grads = [up.T @ x, up.sum(dim=0), off.T @ x, off.sum(dim=0)]
    norm = sum(g.pow(2).sum() for g in grads).sqrt()
    params = [p - 0.1 * g * min(1.0, 1.0 / norm.item()) for p, g in zip(params, grads)]
SILENTLY_WRONG = not torch.allclose(model.loud.weight, params[2], atol=1e-4)
