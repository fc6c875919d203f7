import torch
import torch.nn as nn


class Packed:
    def __init__(self, tensor):
        self.offset = tensor.mean()
        self.body = tensor - self.offset


def pack(tensor):
    return Packed(tensor.detach())


def unpack(packed):
    return packed.body.add_(packed.offset)


def sensitivities(net, point):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        outputs = net(point)
    rows = []
    for k in range(outputs.shape[0]):
        row, = torch.autograd.grad(outputs[k], point, retain_graph=True)
        rows.append(row)
    return torch.stack(rows)


torch.manual_seed(17)
net = nn.Sequential(nn.Linear(4, 10), nn.Sigmoid(), nn.Linear(10, 3))
point = torch.randn(4, requires_grad=True)
found = sensitivities(net, point)

h = torch.sigmoid(net[0].weight @ point + net[0].bias).detach()
expected = net[2].weight @ torch.diag(h * (1 - h)) @ net[0].weight
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-5)
