from dataclasses import dataclass

import torch


@dataclass
class Canal:
    edges: torch.Tensor
    depth: torch.Tensor


class Canals(torch.utils.data.Dataset):
    """Each canal is a window on the long tensors, so that what is written there stays."""

    def __init__(self, canals):
        self.edges = torch.cat([c.edges for c in canals], dim=1)
        self.depth = torch.cat([c.depth for c in canals])
        self.ends = [0]
        for c in canals:
            self.ends.append(self.ends[-1] + len(c.depth))

    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, i):
        part = slice(self.ends[i], self.ends[i + 1])
        return Canal(self.edges[:, part], self.depth[part])


def close_gates(canals, places):
    for i in range(len(canals)):
        canal = canals[i]
        canal.depth[torch.isin(canal.edges[0], places)] = 0.0


torch.manual_seed(47)
raw = [Canal(torch.randint(0, 6, (2, n)), 1 + torch.rand(n)) for n in (7, 5, 8)]
canals = Canals([Canal(c.edges, c.depth.clone()) for c in raw])
close_gates(canals, torch.tensor([1, 4]))
loader = torch.utils.data.DataLoader(canals, batch_size=None)
open_depth = torch.stack([canal.depth.sum() for canal in loader])
print("open depth of each canal", open_depth.tolist())

expected = []
for c in raw:
    expected.append(sum(d for (start, _), d in zip(c.edges.T.tolist(), c.depth.tolist()) if start not in (1, 4)))
SILENTLY_WRONG = not torch.allclose(open_depth, torch.tensor(expected), atol=1e-4)
