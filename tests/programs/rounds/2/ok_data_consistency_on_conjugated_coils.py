import torch


class Sense:
    def __init__(self, coils, mask):
        self.coils = coils.clone()
        self.coils /= self.coils.abs().square().sum(0, keepdim=True).sqrt()
        self.adjoint_coils = self.coils.conj()
        self.mask = mask

    def forward(self, image):
        return torch.fft.fft2(self.coils * image, norm="ortho")

    def adjoint(self, kspace):
        return (self.adjoint_coils * torch.fft.ifft2(kspace, norm="ortho")).sum(0)

    def reconstruct(self, measured, steps):
        image = self.adjoint(measured)
        for _ in range(steps):
            predicted = self.forward(image)
            predicted[:, self.mask] = measured[:, self.mask]
            image = self.adjoint(predicted)
        return image


torch.manual_seed(0)
coils = torch.randn(4, 8, 8, dtype=torch.complex64)
image = torch.rand(8, 8).to(torch.complex64)
mask = torch.rand(8, 8) < 0.6

sense = Sense(coils, mask)
measured = sense.forward(image)
measured *= mask
estimate = sense.reconstruct(measured, steps=5)

unit = coils / coils.abs().square().sum(0).sqrt()
back = torch.complex(unit.real, -unit.imag)
samples = torch.fft.fft2(unit * image, norm="ortho") * mask
expected = (back * torch.fft.ifft2(samples, norm="ortho")).sum(0)
for _ in range(5):
    guess = torch.fft.fft2(unit * expected, norm="ortho")
    expected = (back * torch.fft.ifft2(torch.where(mask, samples, guess), norm="ortho")).sum(0)
SILENTLY_WRONG = not torch.allclose(estimate, expected, atol=1e-5)
