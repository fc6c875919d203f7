import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
device = torch.device("cpu")
for step in range(3):
    x, y = torch.rand(8, 4), torch.randint(0, 2, (8,))
    x, y = x.to(device), y.to(device)
    x = x.float().contiguous()
    x -= 0.5
    x /= 0.25
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
