import torch


class Splats:
    def __init__(self, count, size):
        self.blobs = torch.rand(count, 4, dtype=torch.float64)
        axis = torch.linspace(0, 1, size, dtype=torch.float64)
        self.rows, self.columns = torch.meshgrid(axis, axis, indexing="ij")

    def render(self):
        picture = torch.zeros_like(self.rows)
        for row, column, spread, light in self.blobs:
            away = (self.rows - row) ** 2 + (self.columns - column) ** 2
            picture += light * torch.exp(-away / (0.05 + spread ** 2))
        return picture

    def loss(self, target):
        return (self.render() - target).square().mean()

    def step(self, target, rate, reach=1e-6):
        base = self.loss(target)
        for index in [(i, j) for i in range(len(self.blobs)) for j in range(4)]:
            kept = self.blobs[index].item()
            self.blobs[index] = kept + reach
            slope = (self.loss(target) - base) / reach
            self.blobs[index] = kept
            self.blobs[index] -= rate * slope
        return base


def fit(splats, target, steps, rate):
    return torch.stack([splats.step(target, rate) for _ in range(steps)])


torch.manual_seed(181)
splats = Splats(count=2, size=5)
target = torch.rand(5, 5, dtype=torch.float64)
blobs = splats.blobs.clone()
losses = fit(splats, target, steps=6, rate=0.05)

expected = []
for _ in range(6):
    row, column, spread, light = blobs.requires_grad_().T[:, :, None, None]
    away = (splats.rows - row) ** 2 + (splats.columns - column) ** 2
    loss = ((light * torch.exp(-away / (0.05 + spread ** 2))).sum(dim=0) - target).square().mean()
    slope, = torch.autograd.grad(loss, blobs)
    expected.append(loss.detach())
    blobs = (blobs - 0.05 * slope).detach()
SILENTLY_WRONG = not torch.allclose(losses, torch.stack(expected), atol=1e-5)
