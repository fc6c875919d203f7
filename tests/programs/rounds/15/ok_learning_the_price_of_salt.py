import torch


class SGD:
    def __init__(self, rate, momentum, decay):
        self.rate, self.momentum, self.decay = rate, momentum, decay
        self.state = {}

    def update_one(self, name, weight, slope):
        slope.add_(weight, alpha=self.decay)
        if name not in self.state:
            self.state[name] = torch.zeros_like(weight)
        speed = self.state[name]
        speed.mul_(self.momentum).add_(slope)
        weight.sub_(speed, alpha=self.rate)

    def update(self, weights, slopes):
        for name in weights:
            self.update_one(name, weights[name], slopes[name])


class Trainer:
    def __init__(self, optimizer):
        self.optimizer, self.norms = optimizer, []

    def slopes(self, weights, x, y):
        error = (x @ weights["brine"]).add_(weights["rent"]).sub_(y)
        return {"brine": 2 * x.T @ error / len(y), "rent": 2 * error.mean()}

    def fit(self, weights, batches):
        for x, y in batches:
            slopes = self.slopes(weights, x, y)
            self.norms.append(sum(s.square().sum() for s in slopes.values()).sqrt())
            self.optimizer.update(weights, slopes)
        return weights


torch.manual_seed(170)
weights = {"brine": 2 * torch.randn(4), "rent": torch.tensor(-1.0)}
w, b = weights["brine"].clone(), weights["rent"].clone()
batches = [(torch.randn(9, 4), torch.randn(9)) for _ in range(8)]
trainer = Trainer(SGD(rate=0.1, momentum=0.6, decay=0.2))
final = trainer.fit(weights, batches)

expected, speed = [], torch.zeros(5)
for x, y in batches:
    slope = torch.cat([2 * (x @ w + b - y) @ x / 9, 2 * (x @ w + b - y).mean()[None]])
    expected.append(slope.norm())
    speed = 0.6 * speed + slope + 0.2 * torch.cat([w, b[None]])
    w, b = w - 0.1 * speed[:4], b - 0.1 * speed[4]
right = torch.allclose(torch.stack(trainer.norms), torch.stack(expected), atol=1e-4)
SILENTLY_WRONG = not (right and torch.allclose(final["brine"], w, atol=1e-4))
