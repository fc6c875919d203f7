import torch


class Periodogram:
    def __init__(self, flux):
        self.length = len(flux)
        self.spectrum = torch.fft.rfft(flux - flux.mean())

    def strongest(self, count):
        cosine = self.spectrum.real
        sine = self.spectrum.imag
        size = torch.hypot(cosine.abs_(), sine.abs_())
        return size[1:].topk(count).indices + 1

    def keep(self, lines):
        chosen = torch.zeros_like(self.spectrum)
        chosen[lines] = self.spectrum[lines]
        return torch.fft.irfft(chosen, n=self.length)


torch.manual_seed(814)
t = torch.arange(200) / 200
waves = [(5, 1.0, 0.4), (12, 0.7, 2.1), (31, 0.5, -1.3)]
clean = sum(a * torch.sin(2 * torch.pi * f * t + phase) for f, a, phase in waves)
flux = 10.0 + clean + 0.05 * torch.randn(200)

star = Periodogram(flux)
lines = star.strongest(3)
model = star.keep(lines)
residual = (flux - flux.mean() - model).std()
SILENTLY_WRONG = sorted(lines.tolist()) != [5, 12, 31] or residual.item() > 0.1
