import copy

import torch
import torch.nn as nn


def layerwise_rates(layers, factor):
    handles = []
    for height, layer in enumerate(reversed(layers)):
        scale = factor ** height

        def damp(grad, scale=scale):
            grad.mul_(scale)

        for parameter in layer.parameters():
            handles.append(parameter.register_post_accumulate_grad_hook(damp))
    return handles


torch.manual_seed(614)
reader = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 8), nn.Tanh(), nn.Linear(8, 3))
twin = copy.deepcopy(reader)
layerwise_rates([m for m in reader if isinstance(m, nn.Linear)], 0.7)
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
batches = [(torch.randn(16, 6), torch.randint(0, 3, (16,))) for _ in range(10)]
for x, y in batches:
    optimizer.zero_grad()
    nn.functional.cross_entropy(reader(x), y).backward()
    optimizer.step()

groups = [dict(params=twin[i].parameters(), lr=0.1 * 0.7 ** h) for h, i in enumerate([4, 2, 0])]
reference = torch.optim.SGD(groups, lr=0.1)
for x, y in batches:
    reference.zero_grad()
    nn.functional.cross_entropy(twin(x), y).backward()
    reference.step()
SILENTLY_WRONG = not all(torch.allclose(p, q, atol=1e-5) for p, q in zip(reader.parameters(), twin.parameters()))
