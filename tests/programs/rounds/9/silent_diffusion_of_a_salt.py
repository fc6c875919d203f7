import torch

BOX = 3.0


def forces(positions):
    inside = positions.remainder_(BOX)
    apart = inside[:, None] - inside[None]
    apart = apart - BOX * torch.round(apart / BOX)
    squared = apart.square().sum(dim=-1) + torch.eye(len(inside))
    strength = torch.exp(-squared / 0.2)
    strength.fill_diagonal_(0.0)
    return (strength[..., None] * apart).sum(dim=1)


class Brownian:
    def __init__(self, positions, step=0.05, warmth=1.0):
        self.positions = positions.clone()
        self.start = positions.clone()
        self.step, self.warmth = step, warmth

    def advance(self, noise):
        drift = forces(self.positions)
        self.positions += self.step * drift + (2 * self.step * self.warmth) ** 0.5 * noise

    def mean_squared_displacement(self):
        return (self.positions - self.start).square().sum(dim=-1).mean().item()


torch.manual_seed(927)
ions = torch.rand(16, 3) * BOX
noises = torch.randn(60, 16, 3)
salt = Brownian(ions)
curve = []
for noise in noises:
    salt.advance(noise)
    curve.append(salt.mean_squared_displacement())

place, expected = ions.clone(), []
for noise in noises:
    place = place + 0.05 * forces(place.clone()) + 0.1 ** 0.5 * noise
    expected.append((place - ions).square().sum(dim=-1).mean().item())
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(curve, expected)) > 0.5
