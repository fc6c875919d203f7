import torch


def light_on_beds(angles, sun):
    """Light on each bed below the louvres for each height of the sun."""
    passed = torch.cos(angles[None, :] - sun[:, None]).square()
    spread = torch.exp(-(torch.arange(6.0)[:, None] - torch.arange(6.0)[None]).square())
    return passed @ spread


class LouvreDesigner:
    def __init__(self, louvres, pace):
        self.pace = pace
        self._angles = torch.linspace(0.1, 0.9, louvres).requires_grad_()

    def _step(self, sun):
        light = light_on_beds(self._angles, sun)
        loss = light.mean() - light.var(dim=1).mean()
        loss.backward()
        with torch.no_grad():
            self._angles.add_(self._angles.grad, alpha=self.pace).clamp_(0, 1.5)
        self._angles.grad = None
        return loss.item()

    def design(self, sun, rounds):
        return [self._step(sun) for _ in range(rounds)]


sun = torch.tensor([0.2, 0.6, 1.0, 1.3])
designer = LouvreDesigner(6, pace=0.3)
course = designer.design(sun, rounds=10)
course += designer.design(sun, rounds=10)
print("from", course[0], "to", course[-1])

angles = torch.linspace(0.1, 0.9, 6)
for _ in range(20):
    angles.requires_grad_()
    light = light_on_beds(angles, sun)
    last = light.mean() - light.var(dim=1).mean()
    slope, = torch.autograd.grad(last, angles)
    angles = (angles.detach() + 0.3 * slope).clamp(0, 1.5)
SILENTLY_WRONG = abs(course[-1] - last.item()) > 1e-5
