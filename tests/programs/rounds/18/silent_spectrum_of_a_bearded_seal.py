import math
import torch


class Spectrograph:
    def __init__(self, size, hop):
        self.size, self.hop = size, hop
        steps = torch.arange(size) * (2 * math.pi / size)
        self.window = 0.5 - 0.5 * steps.cos()

    def frames(self, song):
        for begin in range(0, len(song) - self.size + 1, self.hop):
            yield song[begin:begin + self.size]

    def power(self, song):
        columns = []
        for frame in self.frames(song):
            frame -= frame.mean()
            frame *= self.window
            columns.append(torch.fft.rfft(frame).abs().square())
        return torch.stack(columns, dim=1)

    def loudest(self, song, rate):
        bins = self.power(song).argmax(dim=0)
        return bins * rate / self.size


def trill(seconds, rate):
    """A falling trill over a murmur of water."""
    t = torch.arange(int(seconds * rate)) / rate
    pitch = 300 - 90 * t
    return torch.sin(2 * math.pi * pitch * t) + 0.2 * torch.randn(len(t)) + 0.4


torch.manual_seed(188)
song = trill(seconds=0.5, rate=1600)
given = song.clone()
graph = Spectrograph(size=64, hop=32)
power = graph.power(song)

hann = torch.hann_window(64)
rows = given.unfold(0, 64, 32)
rows = (rows - rows.mean(dim=1, keepdim=True)) * hann
expected = torch.fft.rfft(rows, dim=1).abs().square().T
SILENTLY_WRONG = not torch.allclose(power, expected, atol=1e-2)
