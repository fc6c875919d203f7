import torch


class SumTree:
    def __init__(self, size):
        self.size = size
        self.nodes = torch.zeros(2 * size, dtype=torch.float64)
        self.leaves = self.nodes[size:]

    def set(self, places, weights):
        self.leaves[places] = weights
        parents = (places + self.size) // 2
        while int(parents[0]) > 0:
            parents = parents.unique()
            self.nodes[parents] = self.nodes[2 * parents] + self.nodes[2 * parents + 1]
            parents = parents // 2

    def find(self, marks):
        marks, places = marks.clone(), torch.ones_like(marks, dtype=torch.long)
        while int(places[0]) < self.size:
            left = self.nodes[2 * places]
            right = marks >= left
            marks.sub_(left * right)
            places.mul_(2).add_(right)
        return places - self.size


torch.manual_seed(73)
tree, weights = SumTree(16), torch.zeros(16, dtype=torch.float64)
found, expected = [], []
for step in range(10):
    places = torch.randperm(16)[:5]
    fresh = torch.rand(5, dtype=torch.float64) + 0.1
    tree.set(places, fresh)
    weights = weights.scatter(0, places, fresh)
    marks = torch.rand(7, dtype=torch.float64) * float(tree.nodes[1])
    found.append(tree.find(marks))
    edges = weights.cumsum(0)
    expected.append((marks[:, None] >= edges - 1e-12).sum(dim=1))
same = torch.equal(torch.stack(found), torch.stack(expected))
SILENTLY_WRONG = not (same and abs(float(tree.nodes[1] - weights.sum())) < 1e-9)
