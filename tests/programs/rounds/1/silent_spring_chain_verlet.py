import torch


class SpringChain:
    """Masses on a line, joined by stiffening springs; both ends are free."""

    def __init__(self, n, stiffness=4.0, rest=1.0):
        self.stiffness = stiffness
        self.rest = rest
        self._force = torch.zeros(n, dtype=torch.float64)

    def forces(self, pos):
        stretch = pos[1:] - pos[:-1] - self.rest
        pull = self.stiffness * stretch + stretch ** 3
        self._force.zero_()
        self._force[:-1] += pull
        self._force[1:] -= pull
        return self._force


def velocity_verlet(chain, pos, vel, dt, steps):
    force = chain.forces(pos)
    for _ in range(steps):
        pos = pos + dt * vel + 0.5 * dt * dt * force
        new_force = chain.forces(pos)
        vel = vel + 0.5 * dt * (force + new_force)
        force = new_force
    return pos, vel


def initial_state(n):
    gen = torch.Generator().manual_seed(2)
    pos = torch.arange(n, dtype=torch.float64) + 0.3 * torch.randn(n, dtype=torch.float64, generator=gen)
    return pos, torch.zeros(n, dtype=torch.float64)


n, dt, steps = 8, 0.05, 100
pos, vel = velocity_verlet(SpringChain(n), *initial_state(n), dt, steps)

ref_pos, ref_vel = initial_state(n)
for _ in range(steps):
    before = SpringChain(n).forces(ref_pos)
    ref_pos = ref_pos + dt * ref_vel + 0.5 * dt * dt * before
    after = SpringChain(n).forces(ref_pos)
    ref_vel = ref_vel + 0.5 * dt * (before + after)

SILENTLY_WRONG = not (torch.allclose(pos, ref_pos, atol=1e-6) and torch.allclose(vel, ref_vel, atol=1e-6))
