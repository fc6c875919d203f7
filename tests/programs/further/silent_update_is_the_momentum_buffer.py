import torch

torch.manual_seed(0)
target, lr = torch.randn(4), 0.1
w, exp_avg = torch.zeros(4), torch.zeros(4)
honest_w, honest_avg = torch.zeros(4), torch.zeros(4)

for step in range(3):
    honest_avg = 0.9 * honest_avg + 0.1 * (honest_w - target)
    honest_w = honest_w - lr * honest_avg

for step in range(3):
    grad = w - target
    exp_avg.mul_(0.9).add_(grad, alpha=0.1)
    update = exp_avg
    update.mul_(lr)
    w -= update
SILENTLY_WRONG = not torch.allclose(w, honest_w)
