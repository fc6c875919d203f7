import torch
from torch import nn


class Refine(nn.Module):
    """Adds a correction to the trace; the correction starts with its own activation."""

    def __init__(self, channels, inner):
        super().__init__()
        self.start = nn.ReLU(inplace=True)
        self.body = nn.Sequential(
            nn.Conv1d(channels, inner, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv1d(inner, channels, 1),
        )

    def forward(self, trace):
        out = self.body(self.start(trace))
        out += trace
        return out


class Picker(nn.Module):
    def __init__(self, channels=4, blocks=2):
        super().__init__()
        self.stem = nn.Conv1d(1, channels, 5, padding=2)
        self.blocks = nn.Sequential(*[Refine(channels, 6) for _ in range(blocks)])
        self.head = nn.Conv1d(channels, 1, 1)

    def forward(self, trace):
        return self.head(self.blocks(self.stem(trace))).squeeze(1)


torch.manual_seed(8)
traces = torch.randn(3, 1, 64)
traces[:, :, 30:] *= 2.5
picker = Picker().eval()
with torch.no_grad():
    arrival = picker(traces)
print("arrivals", arrival.argmax(dim=1).tolist())

with torch.no_grad():
    h = nn.functional.conv1d(traces, picker.stem.weight, picker.stem.bias, padding=2)
    for block in picker.blocks:
        inner = nn.functional.conv1d(h.clamp(min=0), block.body[0].weight, block.body[0].bias, padding=1)
        h = h + nn.functional.conv1d(inner.clamp(min=0), block.body[2].weight, block.body[2].bias)
    expected = nn.functional.conv1d(h, picker.head.weight, picker.head.bias).squeeze(1)
SILENTLY_WRONG = not torch.allclose(arrival, expected, atol=1e-5)
