import torch

torch.manual_seed(0)
weights = [torch.randn(3), torch.randn(2), torch.randn(1)]
todo = weights.copy()
while todo:
    w = todo.pop()
    w -= 0.1 * w.sign()
norm = sum(w.norm() for w in weights)
active = list(weights)
for w in active:
    w.clamp_(-1, 1)
total = sum(w.sum() for w in weights)
