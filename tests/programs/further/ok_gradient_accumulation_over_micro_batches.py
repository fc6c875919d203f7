import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(8, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
accumulate = 2
running = torch.zeros(())

optimizer.zero_grad(set_to_none=False)
for i in range(4):
    x, y = torch.randn(3, 4), torch.randint(0, 2, (3,))
    loss = F.cross_entropy(net(x), y) / accumulate
    loss.backward()
    running += loss.detach()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
print(running / 4)
