import torch

torch.manual_seed(0)
cur, nxt = torch.randn(6), torch.randn(6)
for step in range(4):
    torch.mul(cur, 0.5, out=nxt)
    nxt += 0.1
    tmp = cur
    cur = nxt
    nxt = tmp
wave, older = torch.randn(5), torch.randn(5)
for step in range(4):
    older.mul_(-1).add_(wave, alpha=2)
    wave, older = older, wave
total = cur.sum() + wave.sum()
