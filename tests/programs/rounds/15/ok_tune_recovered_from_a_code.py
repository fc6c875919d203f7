import torch
import torch.nn as nn


class Denormalise:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, sound):
        for channel, mean, std in zip(sound, self.mean, self.std):
            channel.mul_(std).add_(mean)
        return sound.clamp_(-1, 1)


class Coder(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.inner = nn.Linear(2 * length, width)

    def forward(self, sound):
        return torch.tanh(self.inner(sound.flatten()))


def invert(coder, code, start, rate, steps, every, denormalise):
    sound, previews = start.clone().requires_grad_(), []
    for k in range(steps):
        loss = (coder(sound) - code).square().sum() + 0.02 * sound.square().sum()
        slope, = torch.autograd.grad(loss, sound)
        with torch.no_grad():
            sound -= slope.mul_(rate)
        if k % every == 0:
            previews.append(denormalise(sound.detach().double()))
    return sound.detach(), previews


torch.manual_seed(172)
coder = Coder(length=7, width=5).requires_grad_(False)
code, start = coder(torch.randn(2, 7)), torch.randn(2, 7)
denormalise = Denormalise((0.1, -0.1), (0.4, 0.3))
found, previews = invert(coder, code, start, 0.3, steps=10, every=3, denormalise=denormalise)

flat, right = start.flatten(), []
for k in range(10):
    out = torch.tanh(coder.inner.weight @ flat + coder.inner.bias)
    flat = flat - 0.3 * (coder.inner.weight.T @ (2 * (out - code) * (1 - out ** 2)) + 0.04 * flat)
    if k % 3 == 0:
        both = flat.double().view(2, 7)
        right.append(torch.stack([both[0] * 0.4 + 0.1, both[1] * 0.3 - 0.1]).clamp(-1, 1))
close = torch.allclose(found.flatten(), flat, atol=1e-4)
SILENTLY_WRONG = not (close and torch.allclose(torch.stack(previews), torch.stack(right), atol=1e-4))
