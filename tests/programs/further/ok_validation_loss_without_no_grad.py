import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(inplace=True), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
train, held_out = torch.randn(16, 3), torch.randn(8, 3)
history = []
for epoch in range(3):
    net.train()
    loss = F.mse_loss(net(train), train.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    net.eval()
    val_loss = F.mse_loss(net(held_out), held_out.sum(1, keepdim=True))
    history.append(val_loss)
best = min(range(3), key=lambda i: history[i].item())
