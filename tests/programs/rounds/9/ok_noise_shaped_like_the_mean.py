import torch
import torch.nn as nn


class PollenCoder(nn.Module):
    def __init__(self, traits, codes):
        super().__init__()
        self.mean = nn.Linear(traits, codes)
        self.logvar = nn.Linear(traits, codes)
        self.back = nn.Linear(codes, traits)

    def forward(self, x, generator):
        mean, logvar = self.mean(x), self.logvar(x)
        noise = mean.detach().clone().normal_(generator=generator)
        spread = logvar.mul(0.5).exp_()
        sampled = noise.mul_(spread.detach()).add_(mean.detach())
        code = mean + (sampled - mean.detach()) / spread.detach() * spread
        return self.back(code), mean, logvar


def bound(x, output, mean, logvar):
    divergence = -0.5 * (1 + logvar - mean.square() - logvar.exp()).sum()
    return (output - x).square().sum() + divergence


torch.manual_seed(961)
coder, grains = PollenCoder(5, 2), torch.randn(16, 5)
loss = bound(grains, *coder(grains, torch.Generator().manual_seed(4)))
loss.backward()
slopes = [p.grad.double() for p in coder.parameters()]

weights = [p.detach().double().requires_grad_() for p in coder.parameters()]
x = grains.double()
mean = x @ weights[0].T + weights[1]
logvar = x @ weights[2].T + weights[3]
drawn = torch.randn(16, 2, generator=torch.Generator().manual_seed(4)).double()
output = (mean + torch.exp(logvar / 2) * drawn) @ weights[4].T + weights[5]
kl = 0.5 * (mean ** 2 + logvar.exp() - logvar - 1).sum()
expected = torch.autograd.grad(((output - x) ** 2).sum() + kl, weights)
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-3) for a, b in zip(slopes, expected))
