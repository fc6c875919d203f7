from itertools import islice

import torch
import torch.nn as nn


class StormModel(nn.Module):
    def __init__(self, fields):
        super().__init__()
        self.core = nn.Sequential(nn.Linear(fields, 16), nn.Tanh(), nn.Linear(16, fields))

    @torch.no_grad()
    def one_hour(self, x, forcing):
        for member in range(x.shape[0]):
            for row in range(x.shape[1]):
                x[member, row] = x[member, row] + 0.1 * self.core(x[member, row] + forcing)
        return x

    def create_iterator(self, x, forcing):
        hour = 0
        while True:
            yield hour, x
            x = self.one_hour(x, forcing)
            hour += 1


torch.manual_seed(602)
model = StormModel(4)
analysis = torch.randn(3, 5, 4)
forcing = torch.randn(4)
start = analysis.clone()

states = dict(islice(model.create_iterator(analysis, forcing), 5))
growth = [(states[h] - states[0]).abs().mean() for h in range(5)]

with torch.no_grad():
    state, expected = start, [torch.zeros(())]
    for _ in range(4):
        state = state + 0.1 * model.core(state + forcing)
        expected.append((state - start).abs().mean())
SILENTLY_WRONG = not torch.allclose(torch.stack(growth), torch.stack(expected), atol=1e-5)
