import torch


class Pipes:
    def __init__(self, src, dst, nodes, ndata=None, edata=None):
        self.src, self.dst, self.nodes = src, dst, nodes
        self.ndata, self.edata = dict(ndata or {}), dict(edata or {})

    def local_var(self):
        return Pipes(self.src, self.dst, self.nodes, self.ndata, self.edata)

    def gather(self, messages):
        out = torch.zeros(self.nodes, *messages.shape[1:], dtype=messages.dtype)
        return out.index_add_(0, self.dst, messages)


def blend(pipes, field):
    """Every node takes the mean of its feeders, weighted by the flow."""
    g = pipes.local_var()
    total = g.gather(g.edata["flow"])
    g.edata["flow"] /= total[g.dst]
    return g.gather(g.edata["flow"] * g.ndata[field][g.src])


def losses(pipes, friction):
    """Pressure that each node loses over its own feeders."""
    g = pipes.local_var()
    return g.gather(friction * g.edata["flow"] ** 2)


torch.manual_seed(57)
nodes, count = 12, 40
src = torch.randint(nodes, (count,))
dst = torch.cat([torch.arange(nodes), torch.randint(nodes, (count - nodes,))])
flow = 0.5 + 3 * torch.rand(count, dtype=torch.float64)
pipes = Pipes(src, dst, nodes, {"chlorine": torch.rand(nodes, dtype=torch.float64)}, {"flow": flow.clone()})
mixed = blend(pipes, "chlorine")
lost = losses(pipes, friction=0.02)

wanted = [0.0] * nodes
for d, f in zip(dst.tolist(), flow.tolist()):
    wanted[d] += 0.02 * f * f
SILENTLY_WRONG = not torch.allclose(lost, torch.tensor(wanted, dtype=torch.float64))
