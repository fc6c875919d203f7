import torch
from torch import nn


class CallDetector(nn.Module):
    """Marks chunks of sound in which a bird calls, from one chunk to the next."""

    def __init__(self, chunk, size=12):
        super().__init__()
        self.cell = nn.GRUCell(chunk, size)
        self.head = nn.Linear(size, 1)
        self.register_buffer("state", torch.zeros(1, size))

    @torch.no_grad()
    def forward(self, chunk):
        self.state.copy_(self.cell(chunk[None], self.state))
        return self.head(self.state).sigmoid().item()


class Stream:
    def __init__(self, name, detector, chunk):
        self.name, self.detector, self.chunk = name, detector, chunk
        self.chances = []

    def feed(self, samples):
        for piece in samples.split(self.chunk):
            self.chances.append(self.detector(piece))


torch.manual_seed(9)
chunk = 32
detector = CallDetector(chunk)
streams = [Stream(name, detector, chunk) for name in ("north", "south")]
sounds = {"north": torch.randn(8 * chunk), "south": 0.2 * torch.randn(8 * chunk)}
for start in range(0, 8 * chunk, 2 * chunk):
    for stream in streams:
        stream.feed(sounds[stream.name][start:start + 2 * chunk])
for stream in streams:
    print(stream.name, [round(c, 3) for c in stream.chances])

close = []
with torch.no_grad():
    for stream in streams:
        state = torch.zeros(1, 12)
        expected = []
        for piece in sounds[stream.name].view(8, 1, chunk):
            state = detector.cell(piece, state)
            expected.append(detector.head(state).sigmoid().item())
        gap = torch.tensor(stream.chances) - torch.tensor(expected)
        close.append(gap.abs().max().item() < 1e-5)
SILENTLY_WRONG = not all(close)
