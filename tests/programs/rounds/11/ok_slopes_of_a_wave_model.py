import torch
import torch.nn as nn


class Shelf:
    def __init__(self):
        self.rows = []

    def pack(self, tensor):
        tensor = tensor.detach()
        offset = tensor.mean()
        self.rows.append(tensor - offset)
        return len(self.rows) - 1, offset

    def unpack(self, ticket):
        place, offset = ticket
        restored = self.rows[place].clone()
        return restored.add_(offset)


def slopes(net, point):
    shelf = Shelf()
    with torch.autograd.graph.saved_tensors_hooks(shelf.pack, shelf.unpack):
        outputs = net(point)
    table = torch.empty(outputs.shape[0], point.shape[0])
    for k in range(outputs.shape[0]):
        row, = torch.autograd.grad(outputs[k], point, retain_graph=True)
        table[k].copy_(row)
    return table


torch.manual_seed(170)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4))
point = torch.randn(3, requires_grad=True)
found = slopes(net, point)

h = torch.tanh(net[0].weight @ point + net[0].bias).detach()
expected = net[2].weight @ torch.diag(1 - h * h) @ net[0].weight
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-5)
