from functools import lru_cache

import torch


@lru_cache(maxsize=None)
def taper(length):
    return torch.hann_window(length, periodic=False, dtype=torch.float64)


def loudness(frame):
    return (frame.square() * taper(len(frame))).sum().sqrt()


def spectrum(frame):
    window = taper(len(frame))
    window /= window.norm()
    return torch.fft.rfft(frame * window).abs()


def describe(signal, length, rate):
    rows = []
    for frame in signal.unfold(0, length, length // 2):
        level = loudness(frame)
        peak = spectrum(frame).argmax() * rate / length
        rows.append(torch.stack([level, peak]))
    return torch.stack(rows)


torch.manual_seed(94)
rate, length = 800, 64
time = torch.arange(640, dtype=torch.float64) / rate
signal = (1 + time) * torch.sin(2 * torch.pi * (100 + 60 * time) * time) + 0.1 * torch.randn(640, dtype=torch.float64)
rows = describe(signal, length, rate)

n = torch.arange(length, dtype=torch.float64)
window = 0.5 - 0.5 * torch.cos(2 * torch.pi * n / (length - 1))
levels = [
    sum(float(w) * float(s) ** 2 for w, s in zip(window, signal[i:i + length])) ** 0.5
    for i in range(0, 640 - length + 1, length // 2)
]
SILENTLY_WRONG = not torch.allclose(rows[:, 0], torch.tensor(levels, dtype=torch.float64))
