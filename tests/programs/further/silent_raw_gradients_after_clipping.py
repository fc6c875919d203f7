import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
(net(torch.randn(8, 4) * 10) ** 2).mean().backward()
raw = [p.grad for p in net.parameters()]
honest = torch.cat([g.flatten().clone() for g in raw]).norm()
nn.utils.clip_grad_norm_(net.parameters(), 1.0)
logged = torch.cat([g.flatten() for g in raw]).norm()
SILENTLY_WRONG = abs(logged.item() - honest.item()) > 1e-3
