import torch


class Evolution:
    def __init__(self, size, length, generator):
        self.rng = generator
        self.population = torch.rand(size, length, generator=generator) * 4 - 2

    @staticmethod
    def cost(rows):
        return rows.pow(2).sum(-1)

    def select(self):
        pair = torch.randint(len(self.population), (2,), generator=self.rng)
        winner = pair[self.cost(self.population[pair]).argmin()].item()
        return self.population[winner]

    def mutate(self, genes):
        place = torch.randint(len(genes), (1,), generator=self.rng).item()
        genes[place] += torch.randn(1, generator=self.rng).item()
        return genes

    def next_generation(self, keep=2):
        best = self.cost(self.population).argsort()[:keep]
        children = []
        for _ in range(len(self.population) - keep):
            a, b = self.mutate(self.select()), self.mutate(self.select())
            cut = torch.randint(1, len(a), (1,), generator=self.rng).item()
            children.append(torch.cat([a[:cut], b[cut:]]))
        self.population = torch.cat([self.population[best], torch.stack(children)])


def main():
    evolution = Evolution(12, 5, torch.Generator().manual_seed(5))
    history = [evolution.cost(evolution.population).min().item()]
    for _ in range(15):
        evolution.next_generation()
        history.append(evolution.cost(evolution.population).min().item())
    return history


history = main()
SILENTLY_WRONG = any(later > earlier + 1e-6 for earlier, later in zip(history, history[1:]))
