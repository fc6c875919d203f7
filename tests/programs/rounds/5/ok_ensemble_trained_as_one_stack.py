import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap


def train_stacked(members, x, y, steps):
    params, buffers = stack_module_state(members)
    skeleton = copy.deepcopy(members[0]).to("meta")
    optimizer = torch.optim.Adam(params.values(), lr=0.01)

    def predict(p, b, inputs):
        return functional_call(skeleton, (p, b), (inputs,))

    for _ in range(steps):
        outputs = vmap(predict, in_dims=(0, 0, None))(params, buffers, x)
        loss = (outputs - y).square().mean(dim=(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    with torch.no_grad():
        for i, member in enumerate(members):
            for name, p in member.named_parameters():
                p.copy_(params[name][i])


torch.manual_seed(19)
members = [nn.Sequential(nn.Linear(3, 9), nn.Tanh(), nn.Linear(9, 1)) for _ in range(4)]
twins = [copy.deepcopy(m) for m in members]
x = torch.randn(30, 3)
y = x.norm(dim=1, keepdim=True)
train_stacked(members, x, y, steps=15)

for twin in twins:
    optimizer = torch.optim.Adam(twin.parameters(), lr=0.01)
    for _ in range(15):
        optimizer.zero_grad()
        (twin(x) - y).square().mean().backward()
        optimizer.step()
probe = torch.randn(6, 3)
SILENTLY_WRONG = not all(torch.allclose(m(probe), t(probe), atol=1e-4)
                         for m, t in zip(members, twins))
