from dataclasses import dataclass, field
from typing import Optional

import torch
import torch.nn as nn


@dataclass
class CallInfo:
    places: Optional[torch.Tensor] = None
    mask: Optional[torch.Tensor] = None
    notes: dict = field(default_factory=dict)

    def fill(self, x, lengths):
        if self.places is None:
            self.places = torch.arange(x.shape[1])
        if self.mask is None:
            self.mask = torch.zeros(len(x), x.shape[1], x.shape[1], dtype=x.dtype)
            self.mask.masked_fill_(self.places[None, :] > self.places[:, None], -torch.inf)
        hidden = self.places[None, :] >= lengths[:, None]
        self.mask.masked_fill_(hidden[:, None, :], -torch.inf)
        return self


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, 3 * width)

    def forward(self, x, info):
        query, key, value = self.mix(x).chunk(3, dim=2)
        scores = query @ key.transpose(1, 2) / x.shape[2] ** 0.5
        scores += info.mask
        return x + scores.softmax(dim=2) @ value


class Decoder(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        speed = 1e3 ** -torch.linspace(0, 1, width)
        self.register_buffer("speed", speed)

    def forward(self, x, lengths, info=None):
        info = (info or CallInfo()).fill(x, lengths)
        x = x + torch.sin(info.places.unsqueeze(1) * self.speed)
        for layer in self.layers:
            x = layer(x, info)
        return x


torch.manual_seed(2915)
decoder = Decoder(4, layers=2).double()
batches = [torch.randn(2, n, 4).double() for n in (5, 3, 6)]
sizes = [torch.tensor([5, 3]), torch.tensor([2, 3]), torch.tensor([4, 6])]
with torch.no_grad():
    outputs = [decoder(x, lengths) for x, lengths in zip(batches, sizes)]

right = True
with torch.no_grad():
    for x, lengths, out in zip(batches, sizes, outputs):
        for sequence, length, got in zip(x, lengths.tolist(), out):
            h = sequence + torch.sin(torch.arange(len(sequence)).unsqueeze(1) * decoder.speed)
            for layer in decoder.layers:
                q, k, v = (h @ layer.mix.weight.T + layer.mix.bias).split(4, dim=1)
                rows = []
                for i in range(len(h)):
                    upto = min(i + 1, length)
                    rows.append((q[i] @ k[:upto].T / 2).softmax(dim=0) @ v[:upto])
                h = h + torch.stack(rows)
            right = right and torch.allclose(got, h)
SILENTLY_WRONG = not right
