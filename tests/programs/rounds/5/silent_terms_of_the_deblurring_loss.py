import torch
import torch.nn.functional as F


def pixel(output, target):
    return F.l1_loss(output, target)


def edges(output, target):
    dx = (output.diff(dim=-1) - target.diff(dim=-1)).abs().mean()
    dy = (output.diff(dim=-2) - target.diff(dim=-2)).abs().mean()
    return dx + dy


def spectrum(output, target):
    return (torch.fft.rfft2(output) - torch.fft.rfft2(target)).abs().mean()


class Criterion:
    def __init__(self, **terms):
        self.terms = terms

    def __call__(self, output, target):
        losses = {}
        total = None
        for name, (function, weight) in self.terms.items():
            term = weight * function(output, target)
            losses[name] = term
            if total is None:
                total = term
            else:
                total += term
        losses["all"] = total
        return losses


torch.manual_seed(8)
sharp = torch.rand(4, 1, 16, 16)
kernel = torch.full((1, 1, 3, 3), 1 / 9, requires_grad=True)
criterion = Criterion(pixel=(pixel, 1.0), edges=(edges, 0.3), spectrum=(spectrum, 0.02))
optimizer = torch.optim.SGD([kernel], lr=0.01)
history = []
for _ in range(5):
    restored = F.conv2d(sharp, kernel, padding=1)
    losses = criterion(restored, sharp)
    optimizer.zero_grad()
    losses["all"].backward()
    optimizer.step()
    history.append((restored.detach(), {k: v.item() for k, v in losses.items()}))

logged = torch.tensor([record["pixel"] for _, record in history])
expected = torch.stack([(image - sharp).abs().mean() for image, _ in history])
SILENTLY_WRONG = not torch.allclose(logged, expected, atol=1e-5)
