import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 2))
optimizer = torch.optim.RMSprop(net.parameters(), lr=0.01)
scale = 128.0
for step in range(2):
    x, y = torch.randn(8, 5), torch.randint(0, 2, (8,))
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    (loss * scale).backward()
    for p in net.parameters():
        p.grad.div_(scale)
    nn.utils.clip_grad_value_(net.parameters(), 0.5)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
