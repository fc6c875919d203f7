import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(inplace=True), nn.Linear(6, 2))
mean, shapes = torch.zeros(6), []


def observe(module, args, output):
    shapes.append(tuple(output.shape))
    mean.mul_(0.9).add_(output.detach().mean(0), alpha=0.1)


net[0].register_forward_hook(observe)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(mean.norm(), shapes[-1])
