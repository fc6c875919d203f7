import math
import torch


class Spectrograph:
    def __init__(self, size, hop):
        self.size, self.hop = size, hop
        steps = torch.arange(size) * (2 * math.pi / size)
        self.window = 0.5 - 0.5 * steps.cos()

    def frames(self, song):
        return song.unfold(0, self.size, self.hop).clone()

    def power(self, song):
        frames = self.frames(song)
        frames -= frames.mean(dim=1, keepdim=True)
        frames *= self.window
        return torch.fft.rfft(frames, dim=1).abs().square_().T

    def pitch(self, song, rate):
        power = self.power(song)
        bins = torch.arange(len(power)) * rate / self.size
        return (bins[:, None] * power).sum(dim=0) / power.sum(dim=0)


def moan(seconds, rate):
    t = torch.arange(int(seconds * rate)) / rate
    return torch.sin(2 * math.pi * (180 + 60 * t) * t) + 0.1 * torch.randn(len(t)) - 0.3


torch.manual_seed(288)
song = moan(seconds=0.4, rate=1200)
given = song.clone()
graph = Spectrograph(size=48, hop=24)
pitch = graph.pitch(song, rate=1200)

hann, expected = torch.hann_window(48), []
for begin in range(0, len(given) - 47, 24):
    piece = given[begin:begin + 48]
    energy = torch.fft.fft((piece - piece.mean()) * hann)[:25].abs() ** 2
    expected.append((torch.arange(25) * 25.0 * energy).sum() / energy.sum())
same = torch.allclose(pitch, torch.stack(expected), atol=1e-1, rtol=1e-4)
SILENTLY_WRONG = not (same and torch.equal(song, given))
