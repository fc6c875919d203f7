import torch
import torch.nn as nn


def backbone():
    return nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


class ColourTables(nn.Module):
    def __init__(self, stored, tables, points):
        super().__init__()
        self.features = backbone()
        self.weights = nn.Linear(4, tables)
        self.basis = nn.Linear(tables, 3 * points, bias=False)
        self.init_weights(stored)

    def init_weights(self, stored):
        def reset(layer):
            if isinstance(layer, (nn.Linear, nn.Conv2d)):
                nn.init.xavier_uniform_(layer.weight)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        self.apply(reset)
        self.features.load_state_dict(stored)
        nn.init.ones_(self.weights.bias)

    def forward(self, frames):
        return self.basis(self.weights(self.features(frames)))


def colourise(stored, frames):
    net = ColourTables(stored, tables=3, points=5)
    net.eval()
    with torch.no_grad():
        return net, net(frames)


torch.manual_seed(12)
trained = backbone()
frames = torch.rand(6, 3, 8, 8)
net, curves = colourise(trained.state_dict(), frames)

with torch.no_grad():
    kernel, bias = trained[0].weight, trained[0].bias
    patches = nn.functional.unfold(frames, 3, stride=2)
    maps = kernel.flatten(1) @ patches + bias[:, None]
    mixed = maps.clamp(min=0).mean(dim=2) @ net.weights.weight.T + 1.0
    expected = mixed @ net.basis.weight.T
SILENTLY_WRONG = not torch.allclose(curves, expected, atol=1e-5)
