import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth, momentum=0.1):
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs, momentum=1 - (1 - momentum) ** 0.5)
        self.conv = nn.Conv2d(inputs, growth, 1, bias=False)

    def forward(self, *seen):
        return self.conv(self.norm(torch.cat(seen, dim=1)).relu_())


class DenseNet(nn.Module):
    def __init__(self, growth, depth):
        super().__init__()
        self.layers = nn.ModuleList(DenseLayer(3 + k * growth, growth) for k in range(depth))
        self.head = nn.Linear(3 + depth * growth, 2)

    def forward(self, images):
        seen = [images]
        for layer in self.layers:
            seen.append(checkpoint(layer, *seen, use_reentrant=False))
        return self.head(torch.cat(seen, dim=1).mean(dim=(2, 3)))


def train(net, batches, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for images, kinds in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images), kinds).backward()
        optimizer.step()
    return net.eval()


torch.manual_seed(166)
net = DenseNet(growth=2, depth=2)
batches = [(2 + torch.randn(5, 3, 3, 3), torch.randint(0, 2, (5,))) for _ in range(6)]
train(net, batches, rate=0.1)

mean, spread = torch.zeros(3), torch.ones(3)
for images, _ in batches:
    pixels = images.transpose(0, 1).flatten(1)
    mean = 0.9 * mean + 0.1 * pixels.mean(dim=1)
    spread = 0.9 * spread + 0.1 * pixels.var(dim=1)
norm = net.layers[0].norm
right = torch.allclose(norm.running_mean, mean, atol=1e-5) and torch.allclose(norm.running_var, spread, atol=1e-5)
SILENTLY_WRONG = not right
