import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(10, 4), torch.randint(0, 2, (10, 1)).float()
for _ in range(2):
    logits = net(x)
    loss = F.binary_cross_entropy_with_logits(logits, y)
    probs = torch.sigmoid(logits)
    probs[probs > 0.5] = 1.0
    probs[probs <= 0.5] = 0.0
    accuracy = (probs == y).float().mean().item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
