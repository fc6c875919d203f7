import torch
import torch.nn as nn

torch.manual_seed(0)
enc, dec = nn.Linear(4, 6), nn.Linear(6, 2)
x = torch.randn(5, 4)

expected = dec(torch.tanh(enc(x))).pow(2).sum()
reference = torch.autograd.grad(expected, dec.weight)[0]

hidden = torch.tanh(enc(x))
out = dec(hidden).pow(2).sum()
heat = hidden.detach().numpy()
heat[heat < 0] = 0.0
peak = heat.max()
out.backward()
SILENTLY_WRONG = not torch.allclose(dec.weight.grad, reference)
