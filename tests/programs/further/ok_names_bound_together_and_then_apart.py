import torch

torch.manual_seed(0)
prev = curr = torch.zeros(3)
for t in range(4):
    nxt = 2 * curr - prev
    nxt += 0.1 * torch.randn(3)
    prev, curr = curr, nxt
a = b = torch.zeros(2)
b = torch.ones(2)
a += 1
b += a
lo = hi = torch.rand(3)
lo = lo - 0.1
hi = hi + 0.1
lo.clamp_(0, 1)
hi.clamp_(0, 1)
span = hi - lo
x = y = torch.zeros(3)
x = x + 1
x.mul_(2)
z = y + x
totals = {k: torch.zeros(1) for k in ("a", "b")}
best = dict.fromkeys(["a", "b"], float("inf"))
for k in totals:
    totals[k] += 1
    best[k] = min(best[k], totals[k].item())
