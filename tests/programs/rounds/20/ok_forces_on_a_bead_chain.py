import torch
import torch.nn as nn


class Springs(nn.Module):
    def __init__(self):
        super().__init__()
        self.shape = nn.Parameter(torch.tensor([1.0, 0.5, 1.0], dtype=torch.float64))

    def forward(self, places):
        soft, stiff, length = self.shape
        stretch = (places[:, 1:] - places[:, :-1]).norm(dim=2) - length
        return (soft * stretch ** 2 + stiff * stretch ** 4).sum(dim=1)


def energies_and_forces(model, places):
    places = places.detach().requires_grad_()
    energy = model(places)
    pull, = torch.autograd.grad(energy.sum(), places, create_graph=True)
    return energy, -pull


def misfit(model, places, force):
    _, pulls = energies_and_forces(model, places)
    return (pulls - force).square().mean()


torch.manual_seed(18)
places = torch.randn(20, 6, 3, dtype=torch.float64).cumsum(dim=1)
truth = Springs()
with torch.no_grad():
    truth.shape.copy_(torch.tensor([1.3, 0.4, 1.2]))
force = energies_and_forces(truth, places)[1].detach()

model = Springs()
for step in range(6):
    model.zero_grad()
    misfit(model, places, force).backward()
    with torch.no_grad():
        model.shape -= 1e-4 * model.shape.grad
print("shape", model.shape.tolist())


def squares(shape):
    soft, stiff, length = shape
    gap = places[:, 1:] - places[:, :-1]
    far = gap.norm(dim=2, keepdim=True)
    stretch = far - length
    pull = (2 * soft * stretch + 4 * stiff * stretch ** 3) * gap / far
    zero = torch.zeros(20, 1, 3, dtype=torch.float64)
    total = torch.cat([pull, zero], dim=1) - torch.cat([zero, pull], dim=1)
    return (total - force).square().mean().item()


shape = [1.0, 0.5, 1.0]
for step in range(6):
    slope = []
    for k in range(3):
        up, down = list(shape), list(shape)
        up[k], down[k] = shape[k] + 1e-5, shape[k] - 1e-5
        slope.append((squares(up) - squares(down)) / 2e-5)
    shape = [s - 1e-4 * g for s, g in zip(shape, slope)]
SILENTLY_WRONG = any(abs(a - b) > 1e-5 for a, b in zip(model.shape.tolist(), shape))
