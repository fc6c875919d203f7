import math

import torch


class LinearPhaseFilter:
    def __init__(self, half):
        self.half = half
        self.taps = torch.zeros(2 * half + 1, dtype=torch.float64)
        self.taps[half] = 1.0

    def response(self, taps, omega):
        place = torch.arange(-self.half, self.half + 1, dtype=torch.float64)
        return torch.cos(omega[:, None] * place) @ taps

    def symmetrise(self):
        self.taps[self.half + 1:] = self.taps[:self.half].flip(0)
        self.taps /= self.taps.sum()

    def design(self, omega, wanted, rounds, lr):
        for _ in range(rounds):
            taps = self.taps.clone().requires_grad_()
            loss = (self.response(taps, omega) - wanted).pow(2).mean()
            gradient, = torch.autograd.grad(loss, taps)
            gradient[:self.half] *= 2
            self.taps.sub_(gradient, alpha=lr)
            self.symmetrise()
        return self.taps


omega = torch.linspace(0, math.pi, 64, dtype=torch.float64)
wanted = (omega < 1.2).double()
taps = LinearPhaseFilter(half=8).design(omega, wanted, rounds=40, lr=0.4)

basis = torch.cos(omega[:, None] * torch.arange(9, dtype=torch.float64))
basis = torch.cat([basis[:, :1], 2 * basis[:, 1:]], dim=1)
c = torch.zeros(9, dtype=torch.float64)
c[0] = 1.0
for _ in range(40):
    c = c - 0.4 * 2 / 64 * basis.T @ (basis @ c - wanted)
    c = c / (c[0] + 2 * c[1:].sum())
SILENTLY_WRONG = not (torch.allclose(taps[8:], c, atol=1e-8) and torch.equal(taps, taps.flip(0)))
