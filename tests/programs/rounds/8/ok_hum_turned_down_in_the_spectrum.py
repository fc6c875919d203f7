import torch


class HumFilter:
    def __init__(self, rate, hum, gain):
        self.rate, self.hum, self.gain = rate, hum, gain

    def __call__(self, recording):
        spectrum = torch.fft.rfft(recording)
        parts = torch.view_as_real(spectrum)
        step = self.hum * recording.shape[-1] // self.rate
        parts[..., step::step, :].mul_(self.gain)
        return torch.fft.irfft(spectrum, n=recording.shape[-1])


torch.manual_seed(864)
rate, seconds = 800, 2
t = torch.arange(rate * seconds, dtype=torch.double) / rate
speech = torch.stack([torch.sin(2 * torch.pi * f * t + f) for f in (73.0, 131.0, 212.5)])
hum = torch.stack([0.8 * torch.sin(2 * torch.pi * 50 * k * t + k) for k in (1, 2, 3)])
recording = speech + hum.sum(dim=0)
kept = recording.clone()

filtered = HumFilter(rate, hum=50, gain=0.1)(recording)
expected = speech + 0.1 * hum.sum(dim=0)
SILENTLY_WRONG = not (torch.allclose(filtered, expected, atol=1e-6) and torch.equal(recording, kept))
