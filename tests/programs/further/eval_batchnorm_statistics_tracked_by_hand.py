import torch
import torch.nn as nn

torch.manual_seed(0)
bn = nn.BatchNorm1d(3).eval()
head = nn.Linear(3, 1)
momentum = 0.1

source, target = torch.randn(8, 3), torch.randn(8, 3) + 1
score = head(bn(source)).pow(2).mean()
with torch.no_grad():
    bn.running_mean.mul_(1 - momentum).add_(momentum * target.mean(0))
score.backward()
