import torch
import torch.nn as nn

torch.manual_seed(0)
fc = nn.Linear(3, 4)
gain = nn.Parameter(torch.ones(4))
x, y = torch.randn(6, 3), torch.randn(6, 4)


def loss_of():
    return (fc(x) * gain - y).pow(2).mean()


reference = torch.autograd.grad(loss_of(), fc.weight)[0]

loss = loss_of()
gain.data = gain.data.clamp(max=0.5)
loss.backward()
SILENTLY_WRONG = not torch.allclose(fc.weight.grad, reference)
