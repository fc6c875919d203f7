import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
for epoch in range(2):
    probs = net(x).softmax(-1)
    loss = -probs[torch.arange(6), y].log().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown = probs.detach()
    shown[shown < 0.34] = 0.0
    x.add_(0.01 * torch.randn_like(x))
print(shown.round(decimals=2).shape)
