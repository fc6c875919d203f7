from dataclasses import dataclass

import torch


@dataclass
class River:
    edges: torch.Tensor
    flow: torch.Tensor


class Rivers:
    """All rivers in two long tensors, cut apart when one is asked for."""

    def __init__(self, rivers):
        self.edges = torch.cat([r.edges for r in rivers], dim=1)
        self.flow = torch.cat([r.flow for r in rivers])
        self.ends = torch.tensor([0] + [len(r.flow) for r in rivers]).cumsum(0)

    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, i):
        rows = torch.arange(self.ends[i], self.ends[i + 1])
        return River(self.edges[:, rows], self.flow[rows])


def drain(rivers, least):
    """Branches with less than `least` run dry in summer."""
    for i in range(len(rivers)):
        rivers[i].flow[rivers[i].flow < least] = 0.0


def inflow(river, places):
    return torch.zeros(places).index_add(0, river.edges[1], river.flow)


torch.manual_seed(13)
raw = []
for branches in (6, 9, 4):
    raw.append(River(torch.randint(0, 5, (2, branches)), 4 * torch.rand(branches)))
rivers = Rivers(raw)
drain(rivers, least=1.5)
summer = torch.stack([inflow(rivers[i], 5) for i in range(len(rivers))])
print("summer inflow", summer.tolist())

expected = torch.zeros(3, 5)
for i, river in enumerate(raw):
    for (_, mouth), f in zip(river.edges.T.tolist(), river.flow.tolist()):
        expected[i, mouth] += f if f >= 1.5 else 0.0
SILENTLY_WRONG = not torch.allclose(summer, expected, atol=1e-4)
