import torch
import torch.nn as nn
import torch.nn.functional as F


def rectify(t):
    return F.relu(t, inplace=True)


torch.manual_seed(0)
fc1, fc2 = nn.Linear(4, 4), nn.Linear(4, 4)
x = torch.randn(3, 4)

linear = fc1(x)
a = rectify(linear)
squashed = torch.tanh(fc2(a))
b = rectify(squashed)
loss = b.sum()
loss.backward()
