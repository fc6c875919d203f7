from functools import lru_cache

import torch
import torch.nn as nn


@lru_cache(maxsize=None)
def hann(length):
    return torch.hann_window(length, periodic=False)


class WhistleDetector(nn.Module):
    def __init__(self, length, low):
        super().__init__()
        self.length, self.low = length, low
        self.register_buffer("window", hann(length).clone())

    def taper(self, strength):
        self.window.pow_(strength)
        self.window.div_(self.window.sum())
        return self

    def forward(self, sound):
        frames = sound.unfold(0, self.length, self.length // 2)
        spectrum = torch.fft.rfft(frames * self.window).abs()
        return spectrum[:, self.low:].sum(dim=1)


torch.manual_seed(952)
sound = torch.randn(400)
dolphin = WhistleDetector(32, low=6).taper(2.0)
porpoise = WhistleDetector(32, low=10)
restored = WhistleDetector(32, low=10)
restored.load_state_dict({"window": torch.ones(32)})
heard = [detector(sound) for detector in (dolphin, porpoise, restored)]

place = torch.arange(32, dtype=torch.float64)
plain = 0.5 - 0.5 * torch.cos(2 * torch.pi * place / 31)
windows = [plain.square() / plain.square().sum(), plain, torch.ones(32, dtype=torch.float64)]
SILENTLY_WRONG = False
for low, window, levels in zip((6, 10, 10), windows, heard):
    starts = range(0, 400 - 32 + 1, 16)
    spectra = [torch.fft.fft(sound[s:s + 32].double() * window)[low:17].abs().sum() for s in starts]
    SILENTLY_WRONG |= not torch.allclose(levels.double(), torch.stack(spectra), atol=1e-3)
