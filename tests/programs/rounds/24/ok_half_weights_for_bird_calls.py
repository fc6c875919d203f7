import torch
from torch import nn
import torch.nn.functional as F


class VersionedCast:
    def __init__(self):
        self.kept = {}
        self.made = 0

    def __call__(self, param):
        version, low = self.kept.get(param, (None, None))
        if version != param._version:
            low = param.detach().to(torch.bfloat16)
            self.kept[param] = (param._version, low)
            self.made += 1
        return low


class CallScorer(nn.Module):
    def __init__(self, bands, species):
        super().__init__()
        self.layer = nn.Linear(bands, species)
        self.cast = VersionedCast()

    def forward(self, call):
        if torch.is_grad_enabled():
            return self.layer(call)
        weight, bias = self.cast(self.layer.weight), self.cast(self.layer.bias)
        return F.linear(call.to(torch.bfloat16), weight, bias).float()


def score(model, calls):
    with torch.no_grad():
        return torch.cat([model(call) for call in calls.split(10)])


torch.manual_seed(35)
calls, species = torch.randn(60, 8), torch.arange(60) % 3
model = CallScorer(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
wrong = False
for _ in range(4):
    found = score(model, calls)
    wrong = wrong or not torch.allclose(found, model(calls), atol=5e-2)
    optimizer.zero_grad()
    F.cross_entropy(model(calls), species).backward()
    optimizer.step()
with torch.no_grad():
    model.layer.weight.mul_(-1.0)
found = score(model, calls)
print("casts made", model.cast.made)
SILENTLY_WRONG = wrong or not torch.allclose(found, model(calls), atol=5e-2)
