import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
entities, proj = nn.Embedding(8, 4, max_norm=1.0), nn.Linear(4, 3, bias=False)
optimizer = torch.optim.SGD([*entities.parameters(), *proj.parameters()], lr=0.5)
for _ in range(3):
    ids, y = torch.randint(0, 8, (5,)), torch.randint(0, 3, (5,))
    loss = F.cross_entropy(proj(entities(ids)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        proj.weight.div_(proj.weight.norm(dim=1, keepdim=True))
        proj.weight[0] = proj.weight[0].abs()
