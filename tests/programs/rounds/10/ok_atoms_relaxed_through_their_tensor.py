import torch
import torch.nn as nn


class Cluster:
    def __init__(self, places):
        self.places = places

    def distances(self):
        first, second = torch.triu_indices(len(self.places), len(self.places), offset=1)
        return (self.places[first] - self.places[second]).norm(dim=1)


def energy(places, bonds):
    gaps = (places[bonds[:, 0]] - places[bonds[:, 1]]).norm(dim=1)
    return (gaps - 1.5).square().sum()


def relax(cluster, bonds, steps=300, rate=0.05):
    begin = cluster.places.clone()
    places = nn.Parameter(cluster.places)
    optimizer = torch.optim.SGD([places], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        energy(places, bonds).backward()
        optimizer.step()
    return (cluster.places - begin).norm(dim=1)


torch.manual_seed(177)
cluster = Cluster(2 * torch.randn(5, 3, dtype=torch.float64))
bonds = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]])
places = cluster.places.clone()
moved = relax(cluster, bonds)

begin = places.clone()
for _ in range(300):
    push = torch.zeros_like(places)
    for first, second in bonds.tolist():
        way = places[first] - places[second]
        pull = 2 * (way.norm() - 1.5) * way / way.norm()
        push[first] += pull
        push[second] -= pull
    places = places - 0.05 * push
first, second = torch.triu_indices(5, 5, offset=1)
right = torch.allclose(cluster.distances(), (places[first] - places[second]).norm(dim=1), atol=1e-6)
SILENTLY_WRONG = not (right and torch.allclose(moved, (places - begin).norm(dim=1), atol=1e-6))
