import torch


class Graph(dict):
    __getattr__ = dict.__getitem__


def normalise(graph):
    source, target = graph.edges
    inverse = torch.zeros_like(graph.signal[:, 0]).index_add_(0, target, graph.width)
    inverse.pow_(-0.5)
    inverse.masked_fill_(inverse.isinf(), 0.0)
    return Graph(graph, width=graph.width * inverse[source] * inverse[target])


class Towns(torch.utils.data.Dataset):
    def __init__(self, graphs, transform=None):
        self.graphs, self.transform = graphs, transform

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        return self.graphs[i] if self.transform is None else self.transform(self.graphs[i])


def spread(graph):
    source, target = graph.edges
    return torch.zeros_like(graph.signal).index_add_(0, target, graph.width[:, None] * graph.signal[source])


torch.manual_seed(40)
graphs, right = [], []
for size in (7, 5, 6):
    edges, width = torch.randint(0, size, (2, 3 * size)), torch.rand(3 * size) + 0.5
    graphs.append(Graph(edges=edges, width=width, signal=torch.randn(size, 2)))
    table = torch.zeros(size, size).index_put_((edges[1], edges[0]), width, accumulate=True)
    load = table.sum(dim=1)
    scale = torch.where(load > 0, 1 / load.sqrt(), torch.zeros(()))
    right.append(scale[:, None] * table * scale @ graphs[-1].signal)
towns = Towns(graphs, normalise)
for epoch in range(3):
    outputs = [spread(towns[i]) for i in range(len(towns))]
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-5) for a, b in zip(outputs, right))
