import torch


def hopping(sites, field):
    h = torch.diag(field).to(torch.complex128)
    step = torch.ones(sites - 1, dtype=torch.complex128)
    return h - torch.diag(step, 1) - torch.diag(step, -1)


class Quench:
    """A state of one chain, evolved with the Hamiltonian of another one."""

    def __init__(self, hamiltonian, dt):
        self.levels, self.modes = torch.linalg.eigh(hamiltonian)
        self.turn = torch.exp(-1j * dt * self.levels)

    def echo(self, state, steps):
        ket = self.modes.mH @ state
        bra = ket.conj()
        found = []
        for _ in range(steps):
            ket *= self.turn
            found.append((bra @ ket).abs().square())
        return torch.stack(found)


def ground_state(hamiltonian):
    return torch.linalg.eigh(hamiltonian)[1][:, 0]


torch.manual_seed(20)
sites, dt = 8, 0.15
before = hopping(sites, torch.linspace(-1.0, 1.0, sites, dtype=torch.float64))
after = hopping(sites, 0.3 * torch.randn(sites, dtype=torch.float64))
state = ground_state(before)
echo = Quench(after, dt).echo(state, steps=25)
print("lowest echo", echo.min().item())

expected = []
for k in range(1, 26):
    later = torch.linalg.matrix_exp(-1j * dt * k * after) @ state
    expected.append(torch.vdot(state, later).abs() ** 2)
SILENTLY_WRONG = not torch.allclose(echo, torch.stack(expected), atol=1e-8)
