import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05, fused=True)
train, held_out = torch.randn(8, 3), torch.randn(4, 3)
history = [net(held_out).pow(2).mean()]
for epoch in range(3):
    loss = (net(train) - train.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p in net.parameters():
        p.data.clamp_(-1.0, 1.0)
    history.append((net(held_out) - held_out.sum(1, keepdim=True)).pow(2).mean())
best = min(h.item() for h in history)
