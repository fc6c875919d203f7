import numpy as np
import torch
import torch.nn as nn


def middle_and_tail(errors, share=0.9):
    values = errors.detach().cpu().numpy()
    values.sort()
    return float(values[len(values) // 2]), float(values[int(share * len(values))])


class Evaluation:
    def __init__(self, net):
        self.net = net

    def run(self, x, y, stations):
        with torch.no_grad():
            errors = (self.net(x).squeeze(1) - y).abs()
        middle, tail = middle_and_tail(errors)
        by_station = torch.zeros(int(stations.max()) + 1).index_add_(0, stations, errors)
        counts = torch.bincount(stations)
        return dict(middle=middle, tail=tail, by_station=by_station / counts)


torch.manual_seed(19)
net = nn.Linear(3, 1)
x, stations = torch.randn(60, 3), torch.arange(60) % 4
y = torch.randn(60) * (1 + stations)
report = Evaluation(net).run(x, y, stations)

with torch.no_grad():
    errors = torch.abs(x @ net.weight[0] + net.bias - y)
expected = torch.stack([errors[stations == s].mean() for s in range(4)])
SILENTLY_WRONG = not torch.allclose(report["by_station"], expected, atol=1e-5)
