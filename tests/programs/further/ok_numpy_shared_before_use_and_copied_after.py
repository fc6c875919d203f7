import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
frame = np.linspace(0.0, 255.0, 12, dtype=np.float32).reshape(3, 4)
x = torch.from_numpy(frame)
frame /= 255.0

out = torch.sigmoid(net(x))
heat = out.detach().numpy().copy()
heat[heat < 0.5] = 0.0
out.sum().backward()
shown = net.weight.grad.numpy()
shown *= 100.0
again = torch.tensor(frame)
frame[:] = 0.0
assert again.max() == 1.0
