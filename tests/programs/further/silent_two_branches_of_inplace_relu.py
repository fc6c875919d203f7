import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoBranch(nn.Module):
    def __init__(self, inplace):
        super().__init__()
        self.inplace = inplace
        self.stem = nn.Conv2d(1, 3, 3, padding=1)
        self.a, self.b = nn.Conv2d(3, 2, 1), nn.Conv2d(3, 2, 1)

    def forward(self, image):
        x = self.stem(image)
        h1 = F.relu(x, inplace=self.inplace)
        return self.a(h1) + self.b(x)


torch.manual_seed(0)
net, image = TwoBranch(False), torch.randn(1, 1, 4, 4)
reference = net(image).detach()
net.inplace = True
out = net(image)
out.mean().backward()
SILENTLY_WRONG = not torch.allclose(out, reference)
