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

    def run(self, sounds):
        self.outputs = []
        with torch.no_grad():
            self.encoder(sounds)
        return dict(zip(self.layers, self.outputs))


class Encoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv1d(1, channels, 3, padding=1)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv1d(channels, channels, 3, stride=2)
        self.relu2 = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu1(self.conv1(x))
        x = self.relu2(self.conv2(x))
        return x.mean(dim=2)


def decode(features, signals, ridge):
    x = torch.cat([f.flatten(1) for f in features.values()], dim=1)
    inner = x @ x.T
    inner.diagonal().add_(ridge)
    return x.T @ torch.linalg.solve(inner, signals)


torch.manual_seed(168)
encoder = Encoder(channels=3)
sounds, signals = torch.randn(6, 1, 9), torch.randn(6, 2)
features = FeatureExtractor(encoder, ["relu1", "relu2"]).run(sounds)
weights = decode(features, signals, ridge=0.4)

with torch.no_grad():
    low = nn.functional.conv1d(sounds, encoder.conv1.weight, encoder.conv1.bias, padding=1).clamp(min=0)
    high = nn.functional.conv1d(low, encoder.conv2.weight, encoder.conv2.bias, stride=2).clamp(min=0)
x = torch.cat([low.flatten(1), high.flatten(1)], dim=1)
expected = torch.linalg.solve(x.T @ x + 0.4 * torch.eye(x.shape[1]), x.T @ signals)
SILENTLY_WRONG = not torch.allclose(weights, expected, atol=1e-3)
