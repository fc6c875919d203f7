import torch
import torch.nn as nn


def slow_down(grad):
    grad.mul_(0.1)


torch.manual_seed(0)
text, image = nn.Linear(3, 4), nn.Linear(5, 4)
t, i = torch.randn(2, 3), torch.randn(2, 5)
reference = torch.autograd.grad((image(i) + text(t)).pow(2).sum(), image.weight)[0]

right = image(i)
left = text(t)
left.register_hook(slow_down)
(left + right).pow(2).sum().backward()
SILENTLY_WRONG = not torch.allclose(image.weight.grad, reference)
