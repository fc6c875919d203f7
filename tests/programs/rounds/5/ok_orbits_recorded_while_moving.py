import torch


def pull(position, mass):
    offset = position[None] - position[:, None]
    distance = offset.pow(2).sum(-1).add_(0.05).pow_(-1.5)
    distance.fill_diagonal_(0)
    return (mass[None, :, None] * offset * distance[..., None]).sum(dim=1)


def simulate(position, velocity, mass, steps, dt=0.01):
    position, velocity = position.clone(), velocity.clone()
    record = position.new_empty(steps + 1, *position.shape)
    record[0] = position
    energy = []
    force = pull(position, mass)
    for step in range(1, steps + 1):
        velocity.add_(force, alpha=dt / 2)
        position.add_(velocity, alpha=dt)
        force = pull(position, mass)
        velocity.add_(force, alpha=dt / 2)
        record[step] = position
        energy.append(0.5 * (mass[:, None] * velocity ** 2).sum())
    return record, torch.stack(energy)


torch.manual_seed(12)
mass = torch.rand(4, dtype=torch.float64) + 0.5
position = torch.randn(4, 2, dtype=torch.float64)
velocity = 0.3 * torch.randn(4, 2, dtype=torch.float64)
record, energy = simulate(position, velocity, mass, steps=60)

path, kinetic = [position], []
for _ in range(60):
    half = velocity + 0.005 * pull(path[-1], mass)
    path.append(path[-1] + 0.01 * half)
    velocity = half + 0.005 * pull(path[-1], mass)
    kinetic.append(0.5 * (mass[:, None] * velocity ** 2).sum())
SILENTLY_WRONG = not (torch.allclose(record, torch.stack(path))
                      and torch.allclose(energy, torch.stack(kinetic)))
