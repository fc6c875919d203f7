import torch
import torch.nn as nn


class AffineFlow(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(size))
        self.logscale = nn.Parameter(torch.zeros(size))

    def nll(self, x):
        z = (x - self.shift) * torch.exp(-self.logscale)
        return (0.5 * z.square() + self.logscale).sum(dim=1).mean()


def train(flow, batches):
    shift_optimizer = torch.optim.SGD([flow.shift], lr=0.1)
    scale_optimizer = torch.optim.SGD([flow.logscale], lr=0.05, momentum=0.5)
    curve = []
    for x in batches:
        loss = flow.nll(x)
        shift_optimizer.zero_grad(set_to_none=False)
        scale_optimizer.zero_grad()
        loss.backward()
        shift_optimizer.step()
        scale_optimizer.step()
        curve.append(loss.item())
    return curve


torch.manual_seed(968)
batches = [torch.randn(32, 3) * torch.tensor([0.5, 1.0, 2.0]) + 1 for _ in range(30)]
flow = AffineFlow(3)
curve = train(flow, batches)

shift, logscale, speed = (torch.zeros(3, dtype=torch.float64) for _ in range(3))
expected = []
for x in batches:
    z = (x.double() - shift) / logscale.exp()
    expected.append((0.5 * z ** 2 + logscale).sum(dim=1).mean().item())
    speed = 0.5 * speed + (1 - (z ** 2).mean(dim=0))
    shift = shift + 0.1 * (z / logscale.exp()).mean(dim=0)
    logscale = logscale - 0.05 * speed
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(curve, expected)) > 1e-3
