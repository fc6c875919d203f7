import torch
import torch.nn as nn

torch.manual_seed(0)
trunk, heads = nn.Linear(4, 6), nn.ModuleList([nn.Linear(6, 1), nn.Linear(6, 2)])
opt = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.05)
for x in torch.randn(2, 8, 4):
    features = trunk(x).relu_()
    losses = [head(features).square().mean() for head in heads]
    flat = []
    for loss in losses:
        grads = torch.autograd.grad(loss, list(trunk.parameters()), retain_graph=True)
        flat.append(torch.cat([g.flatten() for g in grads]))
    dot = flat[0] @ flat[1]
    if dot < 0:
        flat[0].sub_(flat[1], alpha=(dot / flat[1].dot(flat[1])).item())
    opt.zero_grad(set_to_none=False)
    sum(losses).backward()
    offset, merged = 0, flat[0] + flat[1]
    for p in trunk.parameters():
        p.grad.copy_(merged[offset : offset + p.numel()].view_as(p))
        offset += p.numel()
    opt.step()
