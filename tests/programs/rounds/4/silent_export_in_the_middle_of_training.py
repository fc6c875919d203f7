import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, 3, padding=1)
        self.norm = nn.BatchNorm1d(outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


@torch.no_grad()
def fold(conv, norm):
    gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    conv.weight.mul_(gain.view(-1, 1, 1))
    conv.bias.sub_(norm.running_mean).mul_(gain).add_(norm.bias)
    return conv


def export(blocks):
    layers = []
    for block in blocks:
        layers += [fold(block.conv, block.norm), nn.ReLU()]
    return nn.Sequential(*layers).eval()


torch.manual_seed(17)
model = nn.Sequential(Block(2, 4), Block(4, 3))
for _ in range(20):
    model(2 * torch.randn(8, 2, 12) + 1)
model.eval()
x = torch.randn(5, 2, 12)
expected = model(x).detach()

deployed = export(model)
assert torch.allclose(deployed(x), expected, atol=1e-4)
validation = model(x)
SILENTLY_WRONG = not torch.allclose(validation, expected, atol=1e-4)
