import copy
import torch
from torch import nn


class WeightAverage:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.shadow = {n: p.detach().float().clone() for n, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].lerp_(p.float(), 1 - self.decay)

    @torch.no_grad()
    def copy_to(self, model):
        for name, p in model.named_parameters():
            p.copy_(self.shadow[name])
        return model


torch.manual_seed(0)
model = nn.Linear(6, 4).to(torch.bfloat16)
ema = WeightAverage(model)
trace = model.weight.detach().double().clone()

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(32, 6).to(torch.bfloat16)
y = torch.randn(32, 4).to(torch.bfloat16)
for step in range(200):
    optimizer.zero_grad()
    (model(x) - y).float().square().mean().backward()
    optimizer.step()
    ema.update(model)
    trace = 0.999 * trace + 0.001 * model.weight.detach().double()

last = model.weight.detach().clone()
averaged = ema.copy_to(copy.deepcopy(model))
drift = (ema.shadow["weight"].double() - trace).abs().max()
expected = trace.to(torch.bfloat16)
SILENTLY_WRONG = not (drift < 1e-4 and torch.allclose(averaged.weight, expected, atol=1e-2)
                      and torch.equal(model.weight, last))
