import torch
from torch import nn
from torch.nn.utils import spectral_norm


class PumpMonitor(nn.Module):
    """Score of a vibration record with a bounded slope."""

    def __init__(self, size):
        super().__init__()
        self.first = spectral_norm(nn.Linear(size, 16))
        self.second = spectral_norm(nn.Linear(16, 1))

    def forward(self, record):
        return self.second(torch.tanh(self.first(record))).squeeze(1)


def train(monitor, records, wear, steps, rate):
    optimizer = torch.optim.SGD(monitor.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        (monitor(records) - wear).square().mean().backward()
        optimizer.step()


def export(monitor):
    """Arrays for the small controller beside the pump."""
    arrays = {}
    for name, layer in monitor.named_children():
        arrays[name] = (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
    return arrays


def on_controller(arrays, records):
    for name in ("first", "second"):
        weight, bias = map(torch.from_numpy, arrays[name])
        records = records @ weight.T + bias
        if name == "first":
            records = torch.tanh(records)
    return records.squeeze(1)


torch.manual_seed(33)
records = torch.randn(50, 10)
wear = records[:, 0] * 2 + records[:, 3]
monitor = PumpMonitor(10)
train(monitor, records, wear, steps=6, rate=0.3)
monitor.eval()
arrays = export(monitor)
scores = on_controller(arrays, records)
print("mean score on the controller", scores.mean().item())

with torch.no_grad():
    x = records
    for layer in (monitor.first, monitor.second):
        sigma = layer.weight_u @ (layer.weight_orig @ layer.weight_v)
        x = x @ (layer.weight_orig / sigma).T + layer.bias
        x = torch.tanh(x) if layer is monitor.first else x.squeeze(1)
SILENTLY_WRONG = not torch.allclose(scores, x, atol=1e-4)
