import torch


class RatedDescent:
    def __init__(self, rates):
        self.rates = rates

    def step(self, loss, params):
        grads = torch.autograd.grad(loss, list(params.values()))
        with torch.no_grad():
            for (name, p), grad in zip(params.items(), grads):
                grad *= self.rates[name]
                p -= grad


class Thermometer:
    def __init__(self, wires):
        self.gain = torch.ones(wires, requires_grad=True)
        self.offset = torch.zeros(wires, requires_grad=True)

    def parameters(self):
        return {"gain": self.gain, "offset": self.offset}

    def read(self, volts):
        return self.gain * volts + self.offset


def calibrate(volts, degrees, steps, rates):
    thermometer, descent = Thermometer(volts.shape[1]), RatedDescent(rates)
    for _ in range(steps):
        loss = (thermometer.read(volts) - degrees).square().mean(dim=0).sum()
        descent.step(loss, thermometer.parameters())
    return thermometer


torch.manual_seed(27)
volts = torch.rand(30, 4) * 2
degrees = volts * torch.tensor([3.0, 2.0, 4.0, 1.5]) + 0.7 + 0.05 * torch.randn(30, 4)
thermometer = calibrate(volts, degrees, 50, {"gain": 0.2, "offset": 0.05})

gain, offset = torch.ones(4), torch.zeros(4)
for _ in range(50):
    miss = gain * volts + offset - degrees
    gain, offset = gain - 0.4 * (miss * volts).mean(dim=0), offset - 0.1 * miss.mean(dim=0)
right = torch.allclose(thermometer.gain.detach(), gain, atol=1e-4)
SILENTLY_WRONG = not (right and torch.allclose(thermometer.offset.detach(), offset, atol=1e-4))
