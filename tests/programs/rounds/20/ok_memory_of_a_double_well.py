import torch


class Well:
    """A particle on a line of points in a double well."""

    def __init__(self, points, barrier, dt):
        x = torch.linspace(-2, 2, points, dtype=torch.float64)
        step = float(x[1] - x[0])
        side = torch.full((points - 1,), -0.5 / step ** 2, dtype=torch.float64)
        energy = barrier * (x ** 2 - 1) ** 2 + 1 / step ** 2
        self.x = x
        self.hamiltonian = torch.diag(energy) + torch.diag(side, 1) + torch.diag(side, -1)
        self.levels, self.modes = torch.linalg.eigh(self.hamiltonian.to(torch.complex128))
        self.turn = torch.exp(-1j * dt * self.levels)

    def packet(self, middle, width, momentum):
        wave = torch.exp(-((self.x - middle) / width) ** 2 + 1j * momentum * self.x)
        return wave / wave.norm()

    def overlap(self, wave, steps):
        ket = self.modes.mH @ wave
        bra = ket.conj_physical()
        found = torch.empty(steps, dtype=torch.complex128)
        for k in range(steps):
            ket *= self.turn
            found[k] = bra @ ket
        return found


well = Well(points=32, barrier=3.0, dt=0.05)
wave = well.packet(middle=-0.9, width=0.4, momentum=1.0)
found = well.overlap(wave, steps=40)
print("lowest memory", found.abs().min().item())

once = torch.linalg.matrix_exp(-0.05j * well.hamiltonian)
later, expected = wave, []
for _ in range(40):
    later = once @ later
    expected.append((wave.real * later.real + wave.imag * later.imag).sum()
                    + 1j * (wave.real * later.imag - wave.imag * later.real).sum())
SILENTLY_WRONG = not torch.allclose(found, torch.stack(expected), atol=1e-8)
