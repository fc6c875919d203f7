import copy

import torch
from torch import nn


class Dictionary(nn.Module):
    def __init__(self, dim=8, features=20):
        super().__init__()
        self.encoder = nn.Parameter(0.3 * torch.randn(features, dim))
        self.decoder = nn.Parameter(0.3 * torch.randn(features, dim))

    def codes(self, x):
        return torch.relu(x @ self.encoder.t())

    def forward(self, x):
        return self.codes(x) @ self.decoder


def train_step(model, optimizer, x):
    codes = model.codes(x)
    loss = (codes @ model.decoder - x).pow(2).mean() + 0.01 * codes.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@torch.no_grad()
def resample(model, optimizer, x, count):
    rare = (model.codes(x) > 0).float().mean(dim=0).argsort()[:count]
    worst = (model(x) - x).pow(2).sum(dim=1).argsort(descending=True)[:count]
    direction = nn.functional.normalize(x[worst], dim=1)
    model.decoder[rare] = direction
    model.encoder[rare] = 0.2 * direction
    return rare


torch.manual_seed(6)
stream = [torch.randn(32, 8) @ torch.randn(8, 8) for _ in range(30)]
model = Dictionary()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for x in stream[:20]:
    train_step(model, optimizer, x)

twin = copy.deepcopy(model)
twin_optimizer = torch.optim.Adam(twin.parameters(), lr=0.02)
twin_optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))

resample(model, optimizer, stream[20], count=6)
for x in stream[20:]:
    train_step(model, optimizer, x)

rows = resample(twin, twin_optimizer, stream[20], count=6)
for p in (twin.encoder, twin.decoder):
    for name in ("exp_avg", "exp_avg_sq"):
        twin_optimizer.state[p][name][rows] = 0
for x in stream[20:]:
    train_step(twin, twin_optimizer, x)
SILENTLY_WRONG = not torch.allclose(model.decoder, twin.decoder, atol=1e-3)
