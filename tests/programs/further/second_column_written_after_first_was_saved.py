import torch
import torch.nn as nn

torch.manual_seed(0)
head = nn.Linear(4, 2)
x = torch.randn(6, 4)

pose = head(x)
angle = pose[:, 0].sin()
pose[:, 1] += 0.5
loss = (angle * pose[:, 1]).mean()
loss.backward()
