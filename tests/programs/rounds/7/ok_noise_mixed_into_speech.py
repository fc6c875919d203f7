import math

import torch


def mix(speech, noise, ratio_db, offset):
    mixture = noise[offset:offset + len(speech)].clone()
    wanted = speech.norm() / 10 ** (ratio_db / 20)
    mixture.mul_(wanted / mixture.norm())
    mixture += speech
    peak = mixture.abs().max()
    if peak > 1:
        mixture /= peak
    return mixture


def make_ladder(speech, noise, levels):
    rungs = {}
    for i, level in enumerate(levels):
        rungs[level] = mix(speech, noise, level, offset=100 * i)
    return rungs


torch.manual_seed(42)
t = torch.arange(800) / 800
speech = 0.4 * torch.sin(2 * math.pi * 25 * t) * torch.exp(-2 * t)
noise = 0.2 * torch.randn(1600)
ladder = make_ladder(speech, noise, levels=[20, 10, 0, -5])

good = True
for i, level in enumerate([20, 10, 0, -5]):
    part = noise[100 * i:100 * i + 800]
    gain = math.sqrt(float((speech ** 2).sum() / (part ** 2).sum()) / 10 ** (level / 10))
    expected = speech + gain * part
    expected = expected / max(1.0, expected.abs().max().item())
    good = good and torch.allclose(ladder[level], expected, atol=1e-5)
SILENTLY_WRONG = not good
