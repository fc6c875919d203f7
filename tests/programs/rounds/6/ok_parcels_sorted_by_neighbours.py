import torch


class SortingBelt:
    def __init__(self, weights):
        self.belt = weights.clone()

    def compare(self, start):
        n = (self.belt.shape[1] - start) // 2 * 2
        left, right = self.belt[:, start:start + n:2], self.belt[:, start + 1:start + n:2]
        light, heavy = torch.minimum(left, right), torch.maximum(left, right)
        changed = bool((light != left).any())
        left.copy_(light)
        right.copy_(heavy)
        return changed

    def run(self):
        rounds, busy = 0, True
        while busy:
            busy = self.compare(0) | self.compare(1)
            rounds += 1
        return rounds


torch.manual_seed(648)
weights = torch.rand(5, 17)
arrival = weights.clone()
sorter = SortingBelt(weights)
rounds = sorter.run()
SILENTLY_WRONG = not (torch.equal(sorter.belt, arrival.sort(dim=1).values) and rounds > 1 and torch.equal(weights, arrival))
