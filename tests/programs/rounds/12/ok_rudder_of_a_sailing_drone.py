import torch
import torch.nn as nn
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import AffineTransform, TanhTransform


class Sailor(nn.Module):
    def __init__(self, senses, controls):
        super().__init__()
        self.mean = nn.Linear(senses, controls)
        self.spread = nn.Parameter(torch.full((controls,), -0.2))

    def forward(self, seen):
        base = Normal(self.mean(seen), self.spread.exp())
        return TransformedDistribution(base, [TanhTransform(), AffineTransform(0.0, 30.0)])


class Log:
    def __init__(self, steps, controls):
        self.rudder, self.score = torch.zeros(steps, controls), torch.zeros(steps)

    def put(self, k, rudder, score):
        self.rudder[k].copy_(rudder)
        self.score[k] = score


@torch.no_grad()
def sail(sailor, seen, stop):
    log = Log(len(seen), 2)
    for k, row in enumerate(seen):
        choice = sailor(row)
        rudder = choice.sample()
        rudder.clamp_(-stop, stop)
        log.put(k, rudder, choice.log_prob(rudder).sum())
    return log


torch.manual_seed(53)
sailor, seen = Sailor(4, 2), torch.randn(30, 4)
log = sail(sailor, seen, stop=22.0)

with torch.no_grad():
    mean, spread = seen @ sailor.mean.weight.T + sailor.mean.bias, sailor.spread.exp()
    inner = torch.atanh(log.rudder / 30)
    density = -0.5 * ((inner - mean) / spread).square() - spread.log() - 0.9189385
    expected = (density - torch.log(30 * (1 - (log.rudder / 30).square()))).sum(dim=1)
SILENTLY_WRONG = not torch.allclose(log.score, expected, atol=1e-3)
