import torch


class SteadyState:
    def __init__(self, size, length, seed):
        self.rng = torch.Generator().manual_seed(seed)
        self.population = torch.rand(size, length, generator=self.rng) * 4 - 2

    def cost(self):
        return (self.population - 1).abs().sum(dim=1)

    def next_generation(self, share=3):
        order = self.cost().argsort()
        parents, losers = order[:share], order[-share:]
        children = self.population[parents]
        children.add_(torch.randn(children.shape, generator=self.rng), alpha=0.3)
        self.population[losers] = children


evolution = SteadyState(size=12, length=4, seed=25)
history, intact = [], True
for _ in range(20):
    costs = evolution.cost()
    best = evolution.population[costs.argmin()].clone()
    history.append(costs.min().item())
    evolution.next_generation()
    intact &= bool((evolution.population == best).all(dim=1).any())

worse = any(later > earlier + 1e-6 for earlier, later in zip(history, history[1:]))
SILENTLY_WRONG = worse or not intact
