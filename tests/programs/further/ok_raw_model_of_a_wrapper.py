import torch
import torch.nn as nn


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)


torch.manual_seed(0)
net = nn.Linear(3, 1)
model = Wrapper(net)
raw_model = model.module
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    opt.zero_grad()
    (model(x) - y).square().mean().backward()
    opt.step()
norm = raw_model.weight.detach().norm() + net.bias.detach().norm()
