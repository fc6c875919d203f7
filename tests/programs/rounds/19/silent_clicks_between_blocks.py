import math

import torch
import torch.nn.functional as F


class SoundCard:
    """Hands out the recording block by block, in the same buffer each time."""

    def __init__(self, recording, size):
        self.recording = recording
        self.block = torch.zeros(size, dtype=recording.dtype)

    def __iter__(self):
        size = len(self.block)
        for begin in range(0, len(self.recording) - size + 1, size):
            self.block.copy_(self.recording[begin:begin + size])
            yield self.block


class StreamingFilter:
    def __init__(self, taps):
        self.taps = taps.flip(0).view(1, 1, -1)
        self.past = torch.zeros(len(taps) - 1, dtype=taps.dtype)

    def __call__(self, block):
        joined = torch.cat([self.past, block])
        self.past = block[-len(self.past):]
        return F.conv1d(joined.view(1, 1, -1), self.taps).view(-1)


def low_pass(count, cutoff):
    n = torch.arange(count, dtype=torch.float64) - (count - 1) / 2
    taps = torch.sinc(2 * cutoff * n) * torch.hann_window(count, periodic=False, dtype=torch.float64)
    return taps / taps.sum()


def play(card, filters):
    out = []
    for block in card:
        for f in filters:
            block = f(block)
        out.append(block)
    return torch.cat(out)


torch.manual_seed(1910)
time = torch.arange(480, dtype=torch.float64) / 48
recording = torch.sin(2 * math.pi * 0.7 * time) + 0.2 * torch.randn(480, dtype=torch.float64)
taps, second = low_pass(9, 0.2), low_pass(7, 0.3)
heard = play(SoundCard(recording, 40), [StreamingFilter(taps), StreamingFilter(second)])


def convolve(signal, taps):
    out = []
    for t in range(len(signal)):
        out.append(sum(taps[k] * signal[t - k] for k in range(min(len(taps), t + 1))))
    return out


expected = convolve(convolve(recording.tolist(), taps.tolist()), second.tolist())
SILENTLY_WRONG = not torch.allclose(heard, torch.tensor(expected, dtype=torch.float64))
