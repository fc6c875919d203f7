import torch
import torch.nn as nn


class Denormalise:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, image):
        for channel, mean, std in zip(image, self.mean, self.std):
            channel.mul_(std).add_(mean)
        return image.clamp(0, 1)


class Coder(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.inner = nn.Linear(3 * size * size, width)

    def forward(self, image):
        return torch.tanh(self.inner(image.flatten()))


def invert(coder, code, start, rate, steps, every, denormalise):
    image, previews = start.clone().requires_grad_(), []
    for k in range(steps):
        loss = (coder(image) - code).square().sum() + 0.01 * image.square().sum()
        slope, = torch.autograd.grad(loss, image)
        with torch.no_grad():
            image -= rate * slope
        if k % every == 0:
            previews.append(denormalise(image.detach()))
    return image.detach(), previews


torch.manual_seed(171)
coder = Coder(size=4, width=6).requires_grad_(False)
code, start = coder(torch.randn(3, 4, 4)), torch.randn(3, 4, 4)
denormalise = Denormalise((0.5, 0.4, 0.4), (0.3, 0.2, 0.2))
found, previews = invert(coder, code, start, 0.3, steps=12, every=4, denormalise=denormalise)

flat = start.flatten()
for _ in range(12):
    out = torch.tanh(coder.inner.weight @ flat + coder.inner.bias)
    slope = coder.inner.weight.T @ (2 * (out - code) * (1 - out ** 2)) + 0.02 * flat
    flat = flat - 0.3 * slope
SILENTLY_WRONG = not torch.allclose(found.flatten(), flat, atol=1e-4)
