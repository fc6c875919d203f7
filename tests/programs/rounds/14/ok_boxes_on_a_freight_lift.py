import torch


class Lift:
    def __init__(self, limit):
        self.limit = limit
        self.best = torch.zeros(limit + 1)
        self.taken = []

    def consider(self, weight, price):
        offer = self.best[:-weight] + price
        better = offer > self.best[weight:]
        self.best[weight:][better] = offer[better]
        self.taken.append(torch.cat([torch.zeros(weight, dtype=torch.bool), better]))

    def load(self, weights):
        room, chosen = self.limit, []
        for k in reversed(range(len(weights))):
            if self.taken[k][room]:
                chosen.append(k)
                room -= weights[k]
        return chosen[::-1]


def plan(weights, prices, limit):
    lift = Lift(limit)
    for weight, price in zip(weights, prices):
        lift.consider(weight, price)
    chosen = lift.load(weights)
    return lift.best[-1], chosen


torch.manual_seed(301)
weights = torch.randint(1, 9, (10,)).tolist()
prices = torch.randint(1, 60, (10,)).tolist()
price, chosen = plan(weights, prices, limit=23)

best = 0
for bits in range(2 ** 10):
    picked = [k for k in range(10) if bits >> k & 1]
    if sum(weights[k] for k in picked) <= 23:
        best = max(best, sum(prices[k] for k in picked))
right = sum(prices[k] for k in chosen) == best and sum(weights[k] for k in chosen) <= 23
SILENTLY_WRONG = not (right and torch.allclose(price, torch.tensor(float(best))))
