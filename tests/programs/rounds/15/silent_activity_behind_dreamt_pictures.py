import torch
import torch.nn as nn


class FeatureExtractor:
    def __init__(self, encoder, layers):
        self.encoder, self.layers, self.outputs = encoder, layers, []
        modules = dict(encoder.named_modules())
        for name in layers:
            modules[name].register_forward_hook(self.keep)

    def keep(self, module, inputs, output):
        self.outputs.append(output.detach())

    def run(self, images):
        self.outputs = []
        with torch.no_grad():
            self.encoder(images)
        return dict(zip(self.layers, self.outputs))


class Encoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(1, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride=2)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        for conv in (self.conv1, self.conv2):
            x = self.relu(conv(x))
        return x.flatten(1)


def decode(features, signals, ridge):
    x = torch.cat([f.flatten(1) for f in features.values()], dim=1)
    return x.T @ torch.linalg.solve(x @ x.T + ridge * torch.eye(len(x)), signals)


torch.manual_seed(167)
encoder = Encoder(channels=2)
images, signals = torch.randn(7, 1, 5, 5), torch.randn(7, 3)
features = FeatureExtractor(encoder, ["conv1", "conv2"]).run(images)
weights = decode(features, signals, ridge=0.5)

with torch.no_grad():
    low = nn.functional.conv2d(images, encoder.conv1.weight, encoder.conv1.bias, padding=1)
    high = nn.functional.conv2d(low.clamp(min=0), encoder.conv2.weight, encoder.conv2.bias, stride=2)
x = torch.cat([low.flatten(1), high.flatten(1)], dim=1)
expected = torch.linalg.solve(x.T @ x + 0.5 * torch.eye(x.shape[1]), x.T @ signals)
SILENTLY_WRONG = not torch.allclose(weights, expected, atol=1e-3)
