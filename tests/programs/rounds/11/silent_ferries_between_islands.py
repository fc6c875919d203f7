import torch


class Graph(dict):
    __getattr__ = dict.__getitem__


def normalise(graph):
    source, target = graph.edges
    inverse = graph.traffic.pow_(-0.5)
    inverse.masked_fill_(inverse.isinf(), 0.0)
    return Graph(graph, weight=inverse[source] * inverse[target])


class Archipelago(torch.utils.data.Dataset):
    def __init__(self, graphs, transform=None):
        self.graphs, self.transform = graphs, transform

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        return self.graphs[i] if self.transform is None else self.transform(self.graphs[i])


def spread(graph, signal):
    source, target = graph.edges
    return torch.zeros_like(signal).index_add_(0, target, graph.weight[:, None] * signal[source])


torch.manual_seed(4)
graphs, right = [], []
for size in (6, 8, 5):
    edges = torch.randint(0, size, (2, 3 * size))
    traffic = torch.zeros(size).index_add_(0, edges[1], torch.rand(3 * size) + 0.5)
    graphs.append(Graph(edges=edges, traffic=traffic, signal=torch.randn(size, 2)))
    scale = torch.where(traffic > 0, 1 / traffic.sqrt(), torch.zeros(()))
    table = torch.zeros(size, size)
    table.index_put_((edges[1], edges[0]), scale[edges[0]] * scale[edges[1]], accumulate=True)
    right.append(table @ graphs[-1].signal)
stops = Archipelago(graphs, normalise)
for epoch in range(3):
    outputs = [spread(stops[i], stops.graphs[i].signal) for i in range(len(stops))]
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-5) for a, b in zip(outputs, right))
