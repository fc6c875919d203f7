import torch


class DoseResponse:
    def __init__(self, dose, effect):
        self.dose, self.effect = dose, effect

    def energy(self, q):
        curve = q[0] * torch.sigmoid(q[1] + q[2] * self.dose)
        return 4 * (curve - self.effect).square().sum() + 0.5 * q.square().sum()

    def slope(self, q):
        leaf = q.detach().clone().requires_grad_()
        return torch.autograd.grad(self.energy(leaf), leaf)[0]


def leapfrog(model, position, momentum, step, count):
    for _ in range(count):
        momentum.sub_(model.slope(position), alpha=step / 2)
        position.add_(momentum, alpha=step)
        momentum.sub_(model.slope(position), alpha=step / 2)
    return position, momentum


def sample(model, position, kicks, chances, step=0.28, count=6):
    samples = []
    for kick, chance in zip(kicks, chances):
        before = position
        energy = model.energy(before) + 0.5 * kick.square().sum()
        position, momentum = leapfrog(model, position, kick.clone(), step, count)
        change = model.energy(position) + 0.5 * momentum.square().sum() - energy
        if chance >= torch.exp(-change):
            position = before
        samples.append(position.clone())
    return torch.stack(samples)


torch.manual_seed(923)
dose = torch.linspace(-2, 2, 15)
model = DoseResponse(dose, 1.5 * torch.sigmoid(0.3 + 2 * dose) + 0.1 * torch.randn(15))
kicks, chances = torch.randn(40, 3), torch.rand(40)
samples = sample(model, torch.zeros(3), kicks, chances)
q, expected = torch.zeros(3), []
for kick, chance in zip(kicks, chances):
    new, p = q, kick
    for _ in range(6):
        p = p - 0.14 * model.slope(new)
        new = new + 0.28 * p
        p = p - 0.14 * model.slope(new)
    change = model.energy(new) + 0.5 * p @ p - model.energy(q) - 0.5 * kick @ kick
    q = new if chance < torch.exp(-change) else q
    expected.append(q)
SILENTLY_WRONG = not torch.allclose(samples, torch.stack(expected), atol=1e-2)
