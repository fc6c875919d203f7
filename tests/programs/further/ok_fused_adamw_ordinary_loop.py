import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, fused=True)
history = []
for step in range(3):
    x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
    logits = net(x)
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.detach())
    accuracy = (logits.argmax(1) == y).float().mean()
mean = torch.stack(history).mean()
