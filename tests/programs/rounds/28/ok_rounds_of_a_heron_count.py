import copy

import torch
from torch import nn


class Count:
    def __init__(self, width):
        self.network = nn.Linear(width, 1, bias=False)
        self.initial = copy.deepcopy(self.network.state_dict())

    def run_round(self, ponds, herons):
        self.network.load_state_dict(self.initial)
        optimizer = torch.optim.SGD(self.network.parameters(), lr=0.05)
        for _ in range(6):
            optimizer.zero_grad()
            (self.network(ponds).squeeze(1) - herons).square().mean().backward()
            optimizer.step()
        return self.network.weight.detach()[0]


torch.manual_seed(51)
ponds = torch.randn(24, 3)
herons = ponds @ torch.tensor([1.0, 0.0, 2.0])
count = Count(3)
w = count.network.weight.detach()[0].clone()
for known in (8, 16, 24):
    fitted = count.run_round(ponds[:known], herons[:known])
print("weights of the last round", fitted.tolist())

for _ in range(6):
    w = w - 0.1 * (ponds @ w - herons) @ ponds / 24
SILENTLY_WRONG = not torch.allclose(fitted, w, atol=1e-4)
