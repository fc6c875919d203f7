import torch
import torch.nn as nn

torch.manual_seed(0)
emit, trans = nn.Linear(3, 4), nn.Parameter(torch.randn(4, 4) * 0.1)
with torch.no_grad():
    trans[0, :] = -1e4
    trans[:, 1] = -1e4
opt = torch.optim.SGD([*emit.parameters(), trans], 0.1)
x, tags, mask = torch.randn(5, 2, 3), torch.randint(2, 4, (5, 2)), torch.ones(5, 2, dtype=torch.bool)
mask[3:, 1] = False
for _ in range(2):
    e = emit(x)
    alpha, gold = e[0], e[0].gather(1, tags[0, :, None]).squeeze(1)
    for t in range(1, 5):
        nxt = torch.logsumexp(alpha[:, :, None] + trans + e[t][:, None], 1)
        alpha = torch.where(mask[t][:, None], nxt, alpha)
        step = trans[tags[t - 1], tags[t]] + e[t].gather(1, tags[t][:, None]).squeeze(1)
        gold = gold + step * mask[t]
    loss = (alpha.logsumexp(1) - gold).mean()
    opt.zero_grad()
    loss.backward()
    trans.grad[0].zero_()
    opt.step()
with torch.no_grad():
    score, back = emit(x)[0].clone(), []
    for t in range(1, 5):
        best, idx = (score[:, :, None] + trans).max(1)
        best += emit(x)[t]
        score[mask[t]] = best[mask[t]]
        back.append(idx)
    path = [score.argmax(1)]
    for idx in reversed(back):
        path.append(idx.gather(1, path[-1][:, None]).squeeze(1))
