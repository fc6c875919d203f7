import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.conv2 = nn.Conv2d(4, 2, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.conv1(x)
        x = self.relu(x)
        return self.conv2(x)


torch.manual_seed(0)
net, seen = Net(), {}
net.conv1.register_full_backward_hook(lambda module, grad_in, grad_out: seen.update(conv1=grad_out[0].detach()))
net(torch.randn(1, 1, 5, 5)).sum().backward()
