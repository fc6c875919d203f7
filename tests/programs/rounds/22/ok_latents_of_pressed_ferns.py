import torch
from torch import nn


def build():
    torch.manual_seed(28)
    return nn.Sequential(nn.Linear(6, 12), nn.SiLU(), nn.Linear(12, 5))


class Accumulator:
    """Lets the gradients of several micro batches add up before a step."""

    def __init__(self, model, steps, lr, max_norm):
        self.model = model
        self.steps = steps
        self.max_norm = max_norm
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.counter = 0
        self.optimizer.zero_grad(set_to_none=False)

    def backward(self, loss):
        (loss / self.steps).backward()
        self.counter += 1
        if self.counter < self.steps:
            return False
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        self.counter = 0
        return True


def flow_loss(model, x, noise, t):
    xt = torch.lerp(x, noise, t)
    return (model(torch.cat([xt, t], dim=1)) - (noise - x)).square().mean()


torch.manual_seed(29)
loader = [(torch.randn(4, 5), torch.randn(4, 5), torch.rand(4, 1)) for _ in range(18)]
model = build()
accumulator = Accumulator(model, steps=3, lr=0.1, max_norm=1.0)
updates = sum(accumulator.backward(flow_loss(model, *batch)) for batch in loader)
print("updates", updates, "weight", model[0].weight.norm().item())

large = build()
for k in range(0, 18, 3):
    loss = flow_loss(large, *(torch.cat(part) for part in zip(*loader[k:k + 3])))
    slopes = torch.autograd.grad(loss, list(large.parameters()))
    norm = torch.cat([g.flatten() for g in slopes]).norm()
    for p, g in zip(large.parameters(), slopes):
        p.data -= 0.1 * g * min(1.0, 1.0 / (norm.item() + 1e-6))
SILENTLY_WRONG = updates != 6 or not all(torch.allclose(p, q, atol=1e-5) for p, q in zip(model.parameters(), large.parameters()))
