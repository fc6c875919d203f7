import numpy as np
import torch

torch.manual_seed(0)
w = torch.randn(2, requires_grad=True)
x = torch.randn(6, 2)
log, curve, residuals = [], [], []
for step in range(3):
    loss = (x @ w - 1).square().mean()
    loss.backward()
    log.append(w.detach().numpy().copy())
    curve.append(loss.detach().numpy())
    residuals.append((x @ w - 1).detach().numpy())
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad.zero_()
path = np.stack(log)
spread = np.std(residuals[0]) + np.sum(curve)
