import numpy as np
import torch

t = torch.ones(5)
n = t.numpy()
t.add_(1)
print(t)
print(n)
n2 = np.ones(5)
t2 = torch.from_numpy(n2)
np.add(n2, 1, out=n2)
print(n2)
print(t2)
