import torch

BOX = 4.0


class Beads:
    def __init__(self, places):
        self.wrapped, self.unwrapped = places.clone(), places.clone()
        self.origin = places

    def forces(self):
        apart = self.wrapped[:, None] - self.wrapped
        apart -= BOX * torch.round(apart / BOX)
        pull = torch.exp(-apart.square().sum(dim=-1))
        return (pull.unsqueeze(-1) * apart).sum(dim=1)

    def advance(self, push):
        move = self.forces().mul_(0.1).add_(push)
        self.unwrapped += move
        self.wrapped.add_(move).remainder_(BOX)

    def spread(self):
        return (self.unwrapped - self.origin).square().sum(dim=-1).mean().item()


torch.manual_seed(966)
places = torch.rand(12, 2, dtype=torch.float64) * BOX
pushes = 0.4 * torch.randn(50, 12, 2, dtype=torch.float64)
beads, found = Beads(places), []
for push in pushes:
    beads.advance(push)
    found.append(beads.spread())

x, expected = places, []
for push in pushes:
    apart = x[:, None] - x
    apart = apart - BOX * torch.floor(apart / BOX + 0.5)
    pull = torch.exp(-apart.square().sum(dim=-1, keepdim=True))
    x = x + 0.1 * (pull * apart).sum(dim=1) + push
    expected.append((x - places).square().sum(dim=-1).mean().item())
inside = bool(((beads.wrapped >= 0) & (beads.wrapped < BOX)).all())
SILENTLY_WRONG = not inside or max(abs(a - b) for a, b in zip(found, expected)) > 1e-6
