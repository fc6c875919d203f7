import torch


class CoinModel:
    def __init__(self, heads, tosses, strength):
        self.data = torch.zeros(tosses)
        self.data[0:heads].data = torch.ones(heads)
        self.strength = strength

    def log_joint(self, fairness):
        prior = torch.distributions.Beta(self.strength, self.strength)
        likelihood = torch.distributions.Bernoulli(fairness)
        return prior.log_prob(fairness) + likelihood.log_prob(self.data).sum()


class Guide:
    def __init__(self):
        self.position = torch.zeros((), requires_grad=True)

    def fairness(self):
        return torch.sigmoid(self.position)


def most_likely(model, guide, steps, rate):
    optimizer = torch.optim.SGD([guide.position], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = -model.log_joint(guide.fairness())
        loss.backward()
        optimizer.step()
    return guide.fairness().item()


torch.manual_seed(1)
model = CoinModel(heads=6, tosses=10, strength=10.0)
found = most_likely(model, Guide(), steps=400, rate=0.05)

expected = (10.0 + 6 - 1) / (10.0 + 10.0 + 10 - 2)
SILENTLY_WRONG = abs(found - expected) > 1e-3
