import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6), nn.Sigmoid()).requires_grad_(False)
head = nn.Linear(6, 2)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(2):
    features = backbone(torch.randn(5, 4))
    features[features < 0.3] = 0.0
    features.mul_(2).sub_(features.mean(0))
    loss = F.cross_entropy(head(features), torch.randint(0, 2, (5,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
