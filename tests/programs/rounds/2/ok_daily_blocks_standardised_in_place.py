import torch
from torch import nn


class SeasonalEncoder(nn.Module):
    def __init__(self, period, length, hidden):
        super().__init__()
        self.period = period
        self.length = length
        self.proj = nn.Linear(length, hidden)

    def standardise(self, series):
        series = series.clone()
        days = series.unfold(-1, self.period, self.period)
        days -= days.mean(-1, keepdim=True)
        days /= days.std(-1, keepdim=True) + 1e-6
        return series

    def forward(self, series):
        flat = self.standardise(series)
        windows = flat.unfold(-1, self.length, 1)
        return self.proj(windows - windows[..., :1]).relu_().mean(1)


torch.manual_seed(0)
series = torch.randn(2, 24).cumsum(1)
encoder = SeasonalEncoder(period=6, length=5, hidden=3)
with torch.no_grad():
    features = encoder(series)
    again = encoder(series)

    blocks = series.reshape(2, 4, 6)
    scaled = (blocks - blocks.mean(-1, keepdim=True)) / (blocks.std(-1, keepdim=True) + 1e-6)
    flat = scaled.reshape(2, 24)
    rows = torch.stack([flat[:, i:i + 5] - flat[:, i:i + 1] for i in range(20)], 1)
    expected = encoder.proj(rows).relu().mean(1)
SILENTLY_WRONG = not (torch.allclose(features, expected, atol=1e-5) and torch.equal(features, again))
