import copy

import torch
from torch import nn


def update_weights(model, sun, grain, epochs=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        optimizer.zero_grad()
        (model(sun).squeeze(1) - grain).square().mean().backward()
        optimizer.step()
    return model.state_dict()


torch.manual_seed(39)
parishes = []
for soil in (0.2, 1.0, -0.6, 0.5):
    sun = torch.randn(15, 2)
    parishes.append((sun, sun @ torch.tensor([soil, 0.7])))
shared = nn.Linear(2, 1, bias=False)
w = shared.weight.detach()[0].clone()
for _ in range(3):
    local = [update_weights(copy.deepcopy(shared), sun, grain) for sun, grain in parishes]
    merged = local[0]
    for other in local[1:]:
        merged["weight"] += other["weight"]
    merged["weight"] /= len(local)
    shared.load_state_dict(merged)
print("shared weight", shared.weight.tolist())

for _ in range(3):
    ends = []
    for sun, grain in parishes:
        v = w
        for _ in range(4):
            v = v - 0.2 * (sun @ v - grain) @ sun / 15
        ends.append(v)
    w = torch.stack(ends).mean(dim=0)
SILENTLY_WRONG = not torch.allclose(shared.weight[0], w, atol=1e-4)
