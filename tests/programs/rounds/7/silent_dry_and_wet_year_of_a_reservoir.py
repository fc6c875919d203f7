import torch
import torch.nn as nn
from torch.func import functional_call


class Reservoir(nn.Module):
    def __init__(self, basins):
        super().__init__()
        self.gate = nn.Parameter(torch.rand(basins) * 0.2 + 0.1)
        self.register_buffer("level", torch.full((basins,), 5.0))

    def forward(self, inflow):
        outflow = self.gate * self.level
        self.level.add_(inflow - outflow)
        return outflow.sum()


def scenario(model, state, inflows):
    flows = [functional_call(model, state, (inflow,)) for inflow in inflows]
    return torch.stack(flows)


torch.manual_seed(19)
model = Reservoir(basins=3)
state = {name: p.detach() for name, p in model.named_parameters()}
state.update(model.named_buffers())

rain = torch.rand(12, 3)
dry = scenario(model, state, 0.3 * rain)
wet = scenario(model, state, 1.8 * rain)
extra = (wet - dry).sum()

gate = model.gate.detach()
keep = (1 - gate)[None] ** torch.arange(12)[:, None]
flow = torch.zeros(12)
for t in range(12):
    level = 5.0 * keep[t]
    for s in range(t):
        level = level + 1.8 * rain[s] * (1 - gate) ** (t - 1 - s)
    flow[t] = (gate * level).sum()
low = torch.zeros(12)
for t in range(12):
    level = 5.0 * keep[t]
    for s in range(t):
        level = level + 0.3 * rain[s] * (1 - gate) ** (t - 1 - s)
    low[t] = (gate * level).sum()
SILENTLY_WRONG = not torch.allclose(extra, (flow - low).sum(), atol=1e-3)
