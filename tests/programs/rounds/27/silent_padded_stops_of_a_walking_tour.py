import math

import torch
from torch import nn


class StopReader(nn.Module):
    """Sums up the stops of a tour; short tours are filled up at the end."""

    def __init__(self, width):
        super().__init__()
        self.query = nn.Parameter(torch.randn(width))
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.rating = nn.Linear(width, 1)

    def forward(self, stops, lengths):
        scores = self.key(stops) @ self.query / math.sqrt(stops.shape[-1])
        filled = torch.arange(stops.shape[1]) >= lengths[:, None]
        scores.masked_fill(filled, float("-inf"))
        weights = scores.softmax(dim=1)
        summary = (weights[:, :, None] * self.value(stops)).sum(dim=1)
        return self.rating(summary).squeeze(1)


torch.manual_seed(3)
tours = [torch.randn(n, 6) for n in (3, 7, 5, 2)]
lengths = torch.tensor([len(t) for t in tours])
batch = nn.utils.rnn.pad_sequence(tours, batch_first=True)
reader = StopReader(6).eval()
with torch.no_grad():
    ratings = reader(batch, lengths)
print("ratings", ratings.tolist(), "favourite tour", int(ratings.argmax()))

with torch.no_grad():
    expected = []
    for tour in tours:
        w = torch.softmax(reader.key(tour) @ reader.query / math.sqrt(6), dim=0)
        expected.append(reader.rating(w @ reader.value(tour)).squeeze(0))
SILENTLY_WRONG = not torch.allclose(ratings, torch.stack(expected), atol=1e-5)
