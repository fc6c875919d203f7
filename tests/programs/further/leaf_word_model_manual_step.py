import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(12, 7))
ids, target, lr = torch.randint(0, 7, (5, 3)), torch.randint(0, 7, (5,)), 0.5

for step in range(2):
    model.zero_grad()
    loss = F.cross_entropy(model(ids), target)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for p in model.parameters():
        p.add_(p.grad, alpha=-lr)
