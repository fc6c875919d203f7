import numpy as np
import torch


class LevelMeter:
    def __init__(self):
        self.peaks = []

    def show(self, signal):
        shown = signal.detach().numpy()
        shown[shown < 0] = 0.0
        self.peaks.append(float(np.abs(shown).max()))


class Saturator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.tensor(0.6))
        self.bias = torch.nn.Parameter(torch.tensor(0.1))

    def forward(self, dry):
        return torch.tanh(self.gain * dry + self.bias)


def tune(model, dry, wet, meter, rate, rounds):
    for _ in range(rounds):
        output = model(dry)
        loss = (output - wet).square().mean()
        meter.show(output)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(parameter.grad, alpha=rate)
    return model.gain.item(), model.bias.item()


time = torch.linspace(0, 1, 400)
dry = torch.sin(30 * time) + 0.3 * torch.sin(71 * time)
wet = torch.tanh(1.8 * dry - 0.2)
found = tune(Saturator(), dry, wet, LevelMeter(), rate=0.5, rounds=15)

x, y = dry.double().numpy(), wet.double().numpy()
gain, bias = 0.6, 0.1
for _ in range(15):
    out = np.tanh(gain * x + bias)
    inner = 2 * (out - y) * (1 - out ** 2) / len(x)
    gain, bias = gain - 0.5 * float((inner * x).sum()), bias - 0.5 * float(inner.sum())
SILENTLY_WRONG = abs(found[0] - gain) + abs(found[1] - bias) > 1e-3
