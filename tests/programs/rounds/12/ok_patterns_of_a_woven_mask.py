import torch


def transform_(rows):
    size, half = rows.shape[1], 1
    while half < size:
        pairs = rows.view(len(rows), -1, 2, half)
        first, second = pairs[:, :, 0], pairs[:, :, 1]
        first += second
        second.mul_(-2).add_(first)
        half *= 2
    return rows


class Spectrometer:
    def __init__(self, size):
        self.size = size
        self.readings = torch.zeros(0, size)

    def expose(self, spectra):
        self.readings = transform_(spectra.clone())
        return self.readings

    def recover(self):
        return transform_(self.readings.clone()).div_(self.size)


def acquire(spectra, noise):
    device = Spectrometer(spectra.shape[1])
    device.expose(spectra).add_(noise)
    return device.readings, device.recover()


torch.manual_seed(36)
spectra, noise = torch.rand(5, 16), 0.01 * torch.randn(5, 16)
kept = spectra.clone()
readings, recovered = acquire(spectra, noise)

signs = torch.tensor([[1.0]])
for _ in range(4):
    signs = torch.kron(torch.tensor([[1.0, 1.0], [1.0, -1.0]]), signs)
right = torch.allclose(readings, kept @ signs + noise, atol=1e-4)
right = right and torch.allclose(recovered, kept + noise @ signs / 16, atol=1e-4)
SILENTLY_WRONG = not (right and torch.equal(spectra, kept))
