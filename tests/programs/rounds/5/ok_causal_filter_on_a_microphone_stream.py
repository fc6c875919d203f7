import torch
import torch.nn.functional as F
from torch import nn


class StreamingConv(nn.Module):
    def __init__(self, channels, kernel):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, kernel)
        self.register_buffer("past", torch.zeros(1, channels, kernel - 1))

    def reset(self):
        self.past.zero_()

    def forward(self, chunk):
        window = torch.cat([self.past, chunk], dim=-1)
        self.past.copy_(window[..., -self.past.shape[-1]:])
        return self.conv(window)


class Microphone:
    def __init__(self, recording, chunk):
        self.recording = recording
        self.frame = torch.empty(1, recording.shape[1], chunk)

    def __iter__(self):
        size = self.frame.shape[-1]
        for start in range(0, self.recording.shape[-1], size):
            self.frame.copy_(self.recording[..., start:start + size])
            yield self.frame


torch.manual_seed(7)
recording = torch.randn(1, 2, 96)
net = StreamingConv(2, 7).eval()
takes = []
with torch.no_grad():
    for take in range(2):
        net.reset()
        takes.append(torch.cat([net(frame) for frame in Microphone(recording, 12)], dim=-1))
    expected = F.conv1d(F.pad(recording, (6, 0)), net.conv.weight, net.conv.bias)
SILENTLY_WRONG = not all(torch.allclose(t, expected, atol=1e-5) for t in takes)
