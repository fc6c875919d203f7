import torch


class Exchange:
    """Keeps the common heat curve of all plants; each round the plants send back theirs."""

    def __init__(self, inputs):
        self.common = {
            "slope": torch.zeros(inputs, dtype=torch.float64),
            "base": torch.zeros(1, dtype=torch.float64),
        }

    def hand_out(self):
        return {name: value.clone() for name, value in self.common.items()}

    def collect(self, reports):
        hours = sum(n for n, _ in reports)
        for n, curve in reports:
            for name, value in curve.items():
                self.common[name] += value * (n / hours)


def fit_locally(curve, weather, demand, steps=5, pace=0.1):
    for _ in range(steps):
        miss = weather @ curve["slope"] + curve["base"] - demand
        curve["slope"] -= pace * weather.T @ miss / len(demand)
        curve["base"] -= pace * miss.mean()
    return curve


torch.manual_seed(7)
plants = []
for k in range(5):
    weather = torch.randn(20 + 10 * k, 3, dtype=torch.float64)
    demand = weather @ torch.tensor([-2.0, 0.7, 0.1], dtype=torch.float64) + 5 + 0.2 * k
    plants.append((weather, demand))

exchange = Exchange(inputs=3)
for round_ in range(4):
    reports = [(len(d), fit_locally(exchange.hand_out(), w, d)) for w, d in plants]
    exchange.collect(reports)
print({name: value.tolist() for name, value in exchange.common.items()})

theta = torch.zeros(4, dtype=torch.float64)
for round_ in range(4):
    parts = []
    for w, d in plants:
        x, own = torch.cat([w, torch.ones(len(d), 1)], dim=1), theta
        for _ in range(5):
            own = own - 0.1 * x.T @ (x @ own - d) / len(d)
        parts.append(own * len(d))
    theta = torch.stack(parts).sum(dim=0) / sum(len(d) for _, d in plants)
SILENTLY_WRONG = not torch.allclose(torch.cat(list(exchange.common.values())), theta)
