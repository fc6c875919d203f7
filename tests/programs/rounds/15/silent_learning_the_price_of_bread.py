import torch


class SGD:
    def __init__(self, rate, momentum=0.0, decay=0.0):
        self.rate, self.momentum, self.decay = rate, momentum, decay
        self.state = {}

    def update_one(self, name, weight, slope):
        if self.decay:
            slope += self.decay * weight
        if self.momentum:
            speed = self.state.get(name)
            speed = slope if speed is None else self.momentum * speed + slope
            self.state[name] = slope = speed
        return weight - self.rate * slope

    def update(self, weights, slopes):
        return {name: self.update_one(name, weights[name], slopes[name]) for name in weights}


class Trainer:
    def __init__(self, optimizer):
        self.optimizer, self.norms = optimizer, []

    def slopes(self, weights, x, y):
        error = x @ weights["flour"] + weights["rent"] - y
        return {"flour": 2 * x.T @ error / len(y), "rent": 2 * error.mean()}

    def fit(self, weights, batches):
        for x, y in batches:
            slopes = self.slopes(weights, x, y)
            weights = self.optimizer.update(weights, slopes)
            self.norms.append(sum(s.square().sum() for s in slopes.values()).sqrt())
        return weights


torch.manual_seed(169)
weights = {"flour": 3 * torch.randn(3), "rent": torch.tensor(2.0)}
w, b = weights["flour"].clone(), weights["rent"].clone()
batches = [(torch.randn(8, 3), torch.randn(8)) for _ in range(10)]
trainer = Trainer(SGD(rate=0.1, momentum=0.5, decay=0.3))
trainer.fit(weights, batches)

expected, speed = [], torch.zeros(4)
for x, y in batches:
    slope = torch.cat([2 * (x @ w + b - y) @ x / 8, 2 * (x @ w + b - y).mean()[None]])
    expected.append(slope.norm())
    speed = 0.5 * speed + slope + 0.3 * torch.cat([w, b[None]])
    w, b = w - 0.1 * speed[:3], b - 0.1 * speed[3]
SILENTLY_WRONG = not torch.allclose(torch.stack(trainer.norms), torch.stack(expected), atol=1e-4)
