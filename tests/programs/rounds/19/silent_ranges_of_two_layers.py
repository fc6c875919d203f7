import torch
import torch.nn as nn


class RangeObserver(nn.Module):
    def __init__(self, levels=255):
        super().__init__()
        self.levels = levels
        self.register_buffer("low", torch.tensor(0.0, dtype=torch.float64))
        self.register_buffer("high", torch.tensor(0.0, dtype=torch.float64))

    def forward(self, x):
        self.low.copy_(torch.minimum(self.low, x.min()))
        self.high.copy_(torch.maximum(self.high, x.max()))
        return x

    def quantize(self, x):
        scale = (self.high - self.low) / self.levels
        zero = (-self.low / scale).round()
        return (((x / scale).round() + zero).clamp(0, self.levels) - zero) * scale


class QuantLinear(nn.Module):
    def __init__(self, inputs, outputs, observer=RangeObserver()):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, dtype=torch.float64)
        self.observer = observer
        self.calibrating = True

    def forward(self, x):
        out = self.linear(x)
        return self.observer(out) if self.calibrating else self.observer.quantize(out)


def calibrate(net, batches):
    with torch.no_grad():
        for x in batches:
            net(x)
    for module in net.modules():
        if isinstance(module, QuantLinear):
            module.calibrating = False
    return net


torch.manual_seed(1907)
net = nn.Sequential(QuantLinear(6, 8), nn.Tanh(), QuantLinear(8, 4), nn.Sigmoid(), QuantLinear(4, 2))
with torch.no_grad():
    net[0].linear.weight.mul_(6)
batches = [torch.randn(16, 6, dtype=torch.float64) for _ in range(5)]
calibrate(net, batches)
test = torch.randn(9, 6, dtype=torch.float64)
with torch.no_grad():
    output = net(test)

layers = [(net[i].linear.weight.detach(), net[i].linear.bias.detach()) for i in (0, 2, 4)]
shapes = [torch.tanh, torch.sigmoid, lambda x: x]
seen, x = [], torch.cat(batches)
for (weight, bias), shape in zip(layers, shapes):
    x = x @ weight.T + bias
    seen.append((min(0.0, x.min().item()), max(0.0, x.max().item())))
    x = shape(x)
x = test
for (weight, bias), shape, (low, high) in zip(layers, shapes, seen):
    scale = (high - low) / 255
    zero = round(-low / scale)
    x = shape(((((x @ weight.T + bias) / scale).round() + zero).clamp(0, 255) - zero) * scale)
SILENTLY_WRONG = not torch.allclose(output, x, atol=1e-9)
