import torch
import torch.nn as nn

torch.manual_seed(0)
transition = nn.Parameter(torch.eye(3) + 0.1 * torch.randn(3, 3))
inputs = torch.randn(4, 2, 3)

states = torch.zeros(5, 2, 3)
for t in range(4):
    states[t + 1] = torch.tanh(states[t] @ transition + inputs[t])
loss = states[-1].pow(2).sum()
loss.backward()
