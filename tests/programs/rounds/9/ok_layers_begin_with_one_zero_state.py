import torch
import torch.nn as nn


class TrafficCounter(nn.Module):
    def __init__(self, lanes, hidden, layers):
        super().__init__()
        self.cells = nn.ModuleList(
            nn.GRUCell(lanes if layer == 0 else hidden, hidden) for layer in range(layers)
        )
        self.flow = nn.Linear(hidden, lanes)

    def forward(self, counts):
        zeros = counts.new_zeros(counts.shape[1], self.cells[0].hidden_size)
        states = [zeros] * len(self.cells)
        flows = counts.new_empty(len(counts), *counts.shape[1:])
        for minute, count in enumerate(counts):
            for layer, cell in enumerate(self.cells):
                states[layer] = cell(states[layer - 1] if layer else count, states[layer])
            flows[minute] = self.flow(states[-1])
        return flows


torch.manual_seed(955)
counter = TrafficCounter(lanes=3, hidden=6, layers=3)
counts = torch.randn(12, 4, 3)
flows = counter(counts)
flows.square().mean().backward()
slope = counter.cells[0].weight_hh.grad

stacked = nn.GRU(3, 6, num_layers=3)
with torch.no_grad():
    for layer, cell in enumerate(counter.cells):
        for name, value in cell.named_parameters():
            getattr(stacked, f"{name}_l{layer}").copy_(value)
expected = counter.flow(stacked(counts)[0])
expected.square().mean().backward()
same_flow = torch.allclose(flows, expected, atol=1e-5)
same_slope = torch.allclose(slope, stacked.weight_hh_l0.grad, atol=1e-5)
SILENTLY_WRONG = not (same_flow and same_slope)
