import torch
import torch.nn as nn


class Morse(nn.Module):
    def __init__(self):
        super().__init__()
        self.shape = nn.Parameter(torch.tensor([1.0, 1.5, 1.2], dtype=torch.float64))

    def forward(self, places):
        depth, width, length = self.shape
        i, j = torch.triu_indices(places.shape[1], places.shape[1], offset=1)
        apart = (places[:, i] - places[:, j]).norm(dim=2)
        return (depth * (1 - torch.exp(-width * (apart - length))).square()).sum(dim=1)


def energies_and_forces(model, places):
    places = places.detach().requires_grad_()
    energy = model(places)
    pull, = torch.autograd.grad(energy.sum(), places, retain_graph=True)
    return energy, -pull


def misfit(model, places, energy, force, weight=5.0):
    found, pulls = energies_and_forces(model, places)
    return (found - energy).square().mean() + weight * (pulls - force).square().mean()


torch.manual_seed(17)
grid = torch.tensor([[0, 0, 0], [1.3, 0, 0], [0, 1.3, 0], [0, 0, 1.3]], dtype=torch.float64)
places = grid + 0.15 * torch.randn(30, 4, 3, dtype=torch.float64)
truth = Morse()
with torch.no_grad():
    truth.shape.copy_(torch.tensor([1.4, 1.2, 1.35]))
energy, force = (part.detach() for part in energies_and_forces(truth, places))

model = Morse()
for step in range(8):
    model.zero_grad()
    loss = misfit(model, places, energy, force)
    loss.backward()
    with torch.no_grad():
        model.shape -= 0.002 * model.shape.grad
print("shape", model.shape.tolist(), "loss", loss.item())

probe, shape = Morse(), torch.tensor([1.0, 1.5, 1.2], dtype=torch.float64)
for step in range(8):
    slope = []
    for k in range(3):
        sides = []
        for sign in (1.0, -1.0):
            probe.shape.data = shape + sign * 1e-5 * torch.eye(3, dtype=torch.float64)[k]
            sides.append(misfit(probe, places, energy, force).item())
        slope.append((sides[0] - sides[1]) / 2e-5)
    shape = shape - 0.002 * torch.tensor(slope, dtype=torch.float64)
SILENTLY_WRONG = not torch.allclose(model.shape.detach(), shape, atol=1e-5)
