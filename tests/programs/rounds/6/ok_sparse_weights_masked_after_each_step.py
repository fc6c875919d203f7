import torch
import torch.nn as nn


class SparseTraining:
    def __init__(self, model, optimizer, share):
        self.optimizer, self.masks = optimizer, {}
        for p in model.parameters():
            if p.dim() > 1:
                limit = p.detach().abs().flatten().kthvalue(int(share * p.numel())).values
                self.masks[p] = (p.detach().abs() > limit).to(p.dtype)
        self.apply()

    @torch.no_grad()
    def apply(self):
        for p, mask in self.masks.items():
            p.mul_(mask)

    def step(self):
        self.optimizer.step()
        self.apply()


torch.manual_seed(649)
layer = nn.Linear(8, 3)
w, b = layer.weight.detach().clone(), layer.bias.detach().clone()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
sparse = SparseTraining(layer, optimizer, 0.5)
samples = [(torch.randn(10, 8), torch.randn(10, 3)) for _ in range(12)]
for x, y in samples:
    optimizer.zero_grad()
    nn.functional.mse_loss(layer(x), y).backward()
    sparse.step()

keep = w.abs() > w.abs().flatten().sort().values[11]
w, vw, vb = torch.where(keep, w, 0.0), torch.zeros(3, 8), torch.zeros(3)
for x, y in samples:
    error = 2 * (x @ w.t() + b - y) / 30
    vw, vb = 0.9 * vw + error.t() @ x, 0.9 * vb + error.sum(dim=0)
    w, b = torch.where(keep, w - 0.1 * vw, 0.0), b - 0.1 * vb
SILENTLY_WRONG = not (torch.allclose(layer.weight, w, atol=1e-5) and torch.allclose(layer.bias, b, atol=1e-5))
