import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 4)
batches = [(torch.randn(2, 3), torch.tensor([3, 4])), (torch.randn(2, 3), torch.tensor([4, 3]))]
seen = []
for epoch in range(2):
    for x, labels in batches:
        labels -= 1
        nn.functional.cross_entropy(net(x), labels).backward()
        seen.append(labels.sum().item())
SILENTLY_WRONG = seen[0] != seen[2]
