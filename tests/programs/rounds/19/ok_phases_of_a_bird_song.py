import math

import torch


class PhaseFinder:
    """Griffin-Lim with momentum."""

    def __init__(self, size, hop, steps, momentum=0.9):
        self.size, self.hop, self.steps = size, hop, steps
        self.momentum = momentum / (1 + momentum)
        self.window = torch.hann_window(size, dtype=torch.float64)

    def analyse(self, wave):
        return torch.stft(wave, self.size, self.hop, window=self.window, return_complex=True)

    def synthesise(self, spectrum, length):
        return torch.istft(spectrum, self.size, self.hop, window=self.window, length=length)

    def __call__(self, loudness, length):
        angles = torch.ones_like(loudness, dtype=torch.complex128)
        before = torch.zeros_like(angles)
        for _ in range(self.steps):
            rebuilt = self.analyse(self.synthesise(loudness * angles, length))
            angles.copy_(rebuilt)
            angles.sub_(before.mul_(self.momentum))
            angles.div_(angles.abs().add_(1e-16))
            before = rebuilt
        return self.synthesise(loudness * angles, length)


def song(length):
    time = torch.arange(length, dtype=torch.float64) / 8000
    pitch = 900 + 300 * torch.sin(2 * math.pi * 6 * time)
    return torch.sin(2 * math.pi * torch.cumsum(pitch, dim=0) / 8000) * (0.3 + time)


wave = song(800)
finder = PhaseFinder(size=64, hop=16, steps=6)
found = finder(finder.analyse(wave).abs(), len(wave))

window = torch.hann_window(64, dtype=torch.float64)
loudness = torch.stft(wave, 64, 16, window=window, return_complex=True).abs()
phase, previous = torch.ones_like(loudness) + 0j, 0
for _ in range(6):
    sound = torch.istft(loudness * phase, 64, 16, window=window, length=800)
    rebuilt = torch.stft(sound, 64, 16, window=window, return_complex=True)
    phase = rebuilt - previous * (0.9 / 1.9)
    phase = phase / (phase.abs() + 1e-16)
    previous = rebuilt
expected = torch.istft(loudness * phase, 64, 16, window=window, length=800)
SILENTLY_WRONG = not torch.allclose(found, expected)
