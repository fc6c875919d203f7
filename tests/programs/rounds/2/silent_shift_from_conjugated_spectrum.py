import torch


def phase_ramp(shape, shift):
    fy = torch.fft.fftfreq(shape[0])[:, None]
    fx = torch.fft.fftfreq(shape[1])[None, :]
    angle = -2 * torch.pi * (fy * shift[0] + fx * shift[1])
    return torch.polar(torch.ones_like(angle), angle)


class MotionEstimator:
    def __init__(self, scan):
        self.spectrum = torch.fft.fft2(scan)
        self.reference = self.spectrum.conj()

    def simulate_motion(self, shift):
        spectrum = self.spectrum
        spectrum *= phase_ramp(spectrum.shape, shift)
        return torch.fft.ifft2(spectrum).real

    def estimate(self, moved):
        cross = torch.fft.fft2(moved) * self.reference
        peak = torch.fft.ifft2(cross).real.argmax().item()
        return divmod(peak, moved.shape[1])


torch.manual_seed(0)
scan = torch.rand(16, 16)
estimator = MotionEstimator(scan)
moved = estimator.simulate_motion((3, 5))
found = estimator.estimate(moved)
expected = (3, 5)
SILENTLY_WRONG = found != expected
