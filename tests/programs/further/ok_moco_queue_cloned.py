import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Linear(6, 4)
momentum_encoder = copy.deepcopy(encoder).requires_grad_(False)
queue, ptr = F.normalize(torch.randn(4, 8), dim=0), 0
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
for _ in range(2):
    x = torch.randn(2, 6)
    q = F.normalize(encoder(x), dim=1)
    with torch.no_grad():
        for k, p in zip(momentum_encoder.parameters(), encoder.parameters()):
            k.mul_(0.99).add_(p, alpha=0.01)
        keys = F.normalize(momentum_encoder(x), dim=1)
    logits = torch.cat([(q * keys).sum(1, keepdim=True), q @ queue.clone().detach()], dim=1) / 0.07
    queue[:, ptr : ptr + 2] = keys.t()
    ptr = (ptr + 2) % 8
    loss = F.cross_entropy(logits, torch.zeros(2, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
