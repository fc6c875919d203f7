import torch


class DepotFlow:
    def __init__(self, routes, depots):
        self.routes = routes
        self.shape = (depots, depots)
        self.parcels = torch.zeros(routes.shape[1])
        self.matrix = torch.sparse_coo_tensor(routes, self.parcels, self.shape, check_invariants=True)

    def hour(self, sent):
        self.parcels.zero_()
        self.parcels.index_add_(0, sent, torch.ones(len(sent)))
        return self.matrix

    def costs(self, hours, fees):
        rows = []
        for sent in hours:
            rows.append(torch.sparse.mm(self.hour(sent), fees))
        return torch.stack(rows)


torch.manual_seed(144)
depots = 5
routes = torch.nonzero(1 - torch.eye(depots)).T.contiguous()
hours = [torch.randint(0, routes.shape[1], (count,)) for count in (30, 75, 10, 120)]
fees = torch.rand(depots, 2)
result = DepotFlow(routes, depots).costs(hours, fees)

expected = torch.zeros(len(hours), depots, 2)
for number, sent in enumerate(hours):
    for route in sent.tolist():
        begin, end = routes[:, route].tolist()
        expected[number, begin] += fees[end]
SILENTLY_WRONG = not torch.allclose(result, expected, atol=1e-4)
