import torch


def plane_wave(frequency, samples, rate):
    time = torch.arange(samples) / rate
    return torch.sin(2 * torch.pi * frequency * time)


def record(wave, gains, noise):
    """One line per microphone: the wave with the gain of the microphone, and its own noise."""
    lines = wave.expand(len(gains), -1)
    levels = []
    for line, gain, hiss in zip(lines, gains, noise):
        line.mul_(gain)
        levels.append((line + hiss).square().mean().sqrt())
    return torch.stack(levels)


def tune(levels, wanted):
    return wanted / levels


torch.manual_seed(9)
gains = [0.8, 1.1, 0.6, 1.4, 0.9]
noise = 0.01 * torch.randn(5, 1600)
levels = record(plane_wave(220.0, 1600, 16000), gains, noise)
print("levels", [round(level, 3) for level in levels.tolist()])
print("corrections", [round(c, 3) for c in tune(levels, 0.5).tolist()])

pure = plane_wave(220.0, 1600, 16000).tolist()
expected = []
for gain, hiss in zip(gains, noise.tolist()):
    power = sum((gain * p + h) ** 2 for p, h in zip(pure, hiss)) / len(pure)
    expected.append(power ** 0.5)
SILENTLY_WRONG = not torch.allclose(levels, torch.tensor(expected), atol=1e-3)
