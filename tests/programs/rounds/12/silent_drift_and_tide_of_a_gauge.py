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


class Gauge:
    def __init__(self, hours):
        self.drift = torch.zeros(hours, requires_grad=True)
        self.tide = torch.zeros(hours, requires_grad=True)

    def parameters(self):
        return {"drift": self.drift, "tide": self.tide}

    def level(self):
        return self.drift + self.tide


def fit(levels, steps, rates):
    gauge, descent = Gauge(len(levels)), RatedDescent(rates)
    for _ in range(steps):
        loss = (gauge.level() - levels).square().sum()
        descent.step(loss, gauge.parameters())
    return gauge


torch.manual_seed(26)
levels = torch.sin(torch.arange(24) / 2) + 0.02 * torch.arange(24) + 0.05 * torch.randn(24)
gauge = fit(levels, 40, {"drift": 0.002, "tide": 0.1})

drift, tide = torch.zeros(24), torch.zeros(24)
for _ in range(40):
    slope = 2 * (drift + tide - levels)
    drift, tide = drift - 0.002 * slope, tide - 0.1 * slope
SILENTLY_WRONG = not torch.allclose(gauge.tide.detach(), tide, atol=1e-4)
