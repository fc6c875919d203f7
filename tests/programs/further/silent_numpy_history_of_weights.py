import numpy as np
import torch

torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
target = torch.tensor([1.0, -1.0])
history = []
for step in range(4):
    loss = (w - target).square().sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
        w.grad = None
    history.append(w.detach().numpy())
path = np.stack(history)
SILENTLY_WRONG = bool((path[0] == path[-1]).all())
