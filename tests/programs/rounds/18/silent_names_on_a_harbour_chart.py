import torch
import torch.nn as nn


class Namer(nn.Module):
    """Guesses the name of the next buoy; one table reads and writes names."""

    def __init__(self, names, size):
        super().__init__()
        self.table = nn.Embedding(names, size)
        self.mix = nn.Linear(size, size)
        self.out = nn.Linear(size, names, bias=False)
        self.out.weight = self.table.weight

    def forward(self, buoys):
        seen = torch.tanh(self.mix(self.table(buoys))).mean(dim=1)
        return self.out(seen)


def adopt(net, parts):
    """Takes over the parts that another port has trained."""
    known = {name: value for name, value in parts.items() if name in net.state_dict()}
    missing, _ = net.load_state_dict(known, strict=False, assign=True)
    return [name for name in missing if not name.startswith("out.")]


@torch.no_grad()
def surest(net, routes):
    chances = net(routes).softmax(dim=-1)
    return chances.max(dim=-1)


torch.manual_seed(182)
net = Namer(names=9, size=5)
parts = {"table.weight": torch.randn(9, 5), "mix.weight": torch.randn(5, 5)}
given = {name: value.clone() for name, value in parts.items()}
left = adopt(net, parts)
routes = torch.randint(9, (6, 4))
chance, name = surest(net, routes)

table, mix, bias = given["table.weight"], given["mix.weight"], net.mix.bias.detach()
seen = torch.stack([torch.tanh(table[r] @ mix.T + bias).mean(0) for r in routes])
best = torch.softmax(seen @ table.T, dim=1).max(dim=1)
same = torch.allclose(chance, best.values, atol=1e-5) and torch.equal(name, best.indices)
SILENTLY_WRONG = not same
