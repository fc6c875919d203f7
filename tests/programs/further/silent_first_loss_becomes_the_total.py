import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
batches = torch.randn(3, 4, 3)
losses = [net(x).pow(2).mean().detach() for x in batches]
honest = losses[0].item()

total = losses[0]
for loss in losses[1:]:
    total += loss
share = losses[0] / total
SILENTLY_WRONG = abs(losses[0].item() - honest) > 1e-6
