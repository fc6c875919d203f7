import torch

torch.manual_seed(0)
inputs = torch.randn(4, 3)
honest = [inputs.sum(0), 2 * inputs.sum(0)]

states = [torch.zeros(3)] * 2
for x in inputs:
    for i in range(2):
        states[i] += (i + 1) * x
top, bottom = states
SILENTLY_WRONG = not torch.allclose(top, honest[0])
