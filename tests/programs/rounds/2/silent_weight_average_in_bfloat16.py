import copy
import torch
from torch import nn


class WeightAverage:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.module = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for shadow, p in zip(self.module.parameters(), model.parameters()):
            shadow.mul_(self.decay).add_(p, alpha=1 - self.decay)


torch.manual_seed(0)
model = nn.Linear(6, 4).to(torch.bfloat16)
ema = WeightAverage(model)
trace = model.weight.detach().double().clone()

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(32, 6).to(torch.bfloat16)
y = torch.randn(32, 4).to(torch.bfloat16)
for step in range(200):
    loss = (model(x) - y).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
    trace = 0.999 * trace + 0.001 * model.weight.detach().double()

gap = (ema.module.weight.double() - trace).abs().max()
travelled = (model.weight.detach().double() - trace).abs().max()
SILENTLY_WRONG = bool(gap > 0.02 * travelled)
