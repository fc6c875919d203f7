from dataclasses import dataclass

import torch
import torch.nn.functional as F

torch.manual_seed(0)


@dataclass
class Stump:
    feature: int
    threshold: float

    def predict(self, x):
        return (x[:, self.feature] > self.threshold).long()


class StumpEnsemble:
    def __init__(self, n_stumps, n_features, n_classes=2):
        self.n_classes = n_classes
        features = torch.randint(0, n_features, (n_stumps,)).tolist()
        thresholds = torch.randn(n_stumps).mul_(0.2).tolist()
        self.stumps = [Stump(f, t) for f, t in zip(features, thresholds)]

    def vote(self, x):
        votes = torch.zeros(len(x), self.n_classes, dtype=torch.uint8)
        for stump in self.stumps:
            votes += F.one_hot(stump.predict(x), self.n_classes).to(torch.uint8)
        return votes

    def predict(self, x):
        return self.vote(x).argmax(dim=1)


def main():
    x = torch.randn(200, 5) + torch.randn(200, 1) * 2
    forest = StumpEnsemble(n_stumps=400, n_features=5)
    labels = forest.predict(x)
    ones = torch.stack([stump.predict(x) for stump in forest.stumps]).sum(0)
    expected = (ones > 200).long()
    decided = ones != 200
    return labels[decided], expected[decided]


labels, expected = main()
SILENTLY_WRONG = not torch.equal(labels, expected)
