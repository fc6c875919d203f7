import torch


class Grid:
    def __init__(self, src, dst, nodes, ndata=None, edata=None):
        self.src, self.dst, self.nodes = src, dst, nodes
        self.ndata, self.edata = dict(ndata or {}), dict(edata or {})

    def local_var(self):
        return Grid(self.src, self.dst, self.nodes, self.ndata, self.edata)

    def gather(self, messages):
        out = torch.zeros(self.nodes, *messages.shape[1:], dtype=messages.dtype)
        return out.index_add_(0, self.dst, messages)


def blend(grid, field, keep):
    """Every town keeps a part of its own value and takes the rest from its feeders."""
    g = grid.local_var()
    total = g.gather(g.edata["load"])
    g.edata["load"] = g.edata["load"] / total[g.dst]
    out = g.gather(g.edata["load"] * g.ndata[field][g.src])
    out *= 1 - keep
    out += keep * g.ndata[field]
    return out


def heat(grid, resistance):
    g = grid.local_var()
    return g.gather(resistance * g.edata["load"] ** 2)


torch.manual_seed(84)
nodes, count = 9, 30
src = torch.randint(nodes, (count,))
dst = torch.cat([torch.arange(nodes), torch.randint(nodes, (count - nodes,))])
load = 1 + 4 * torch.rand(count, dtype=torch.float64)
green = torch.rand(nodes, dtype=torch.float64)
grid = Grid(src, dst, nodes, {"green": green.clone()}, {"load": load.clone()})
mixed = blend(grid, "green", keep=0.3)
warm = heat(grid, resistance=0.05)

hot, share, total = [0.0] * nodes, [0.0] * nodes, [0.0] * nodes
for s, d, f in zip(src.tolist(), dst.tolist(), load.tolist()):
    hot[d] += 0.05 * f * f
    share[d] += f * green[s].item()
    total[d] += f
wanted = [0.3 * g + 0.7 * a / t for g, a, t in zip(green.tolist(), share, total)]
same = torch.allclose(warm, torch.tensor(hot, dtype=torch.float64))
SILENTLY_WRONG = not (same and torch.allclose(mixed, torch.tensor(wanted, dtype=torch.float64)))
