import torch
import torch.nn as nn


def clip_in_place(p):
    p.grad.clamp_(-0.5, 0.5)


torch.manual_seed(0)
text, image = nn.Linear(3, 4), nn.Linear(5, 4)
for p in [*text.parameters(), *image.parameters()]:
    p.register_post_accumulate_grad_hook(clip_in_place)

left, right = text(torch.randn(2, 3)), image(torch.randn(2, 5))
left.register_hook(lambda grad: grad * 0.1)
(left + right).pow(2).sum().backward()
assert text.weight.grad.abs().max() <= 0.5
