import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
smooth = torch.empty(3, 5)
for _ in range(3):
    x, y = torch.randn(3, 4), torch.tensor([1, 4, 0])
    logp = net(x).log_softmax(-1)
    with torch.no_grad():
        smooth.fill_(0.1 / 4)
        smooth.scatter_(1, y.unsqueeze(1), 0.9)
        smooth[:, 3] = 0
    loss = -(smooth * logp).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
