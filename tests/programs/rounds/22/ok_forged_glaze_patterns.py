import torch
from torch import nn

BCE = nn.functional.binary_cross_entropy_with_logits


def build():
    torch.manual_seed(41)
    netG = nn.Sequential(nn.Linear(3, 10), nn.Tanh())
    netD = nn.Sequential(nn.Linear(10, 8), nn.Softplus(), nn.Linear(8, 1))
    return netG, netD


def train(netG, netD, glazes, noise, lr=0.05):
    optimizerD = torch.optim.SGD(netD.parameters(), lr=lr)
    optimizerG = torch.optim.SGD(netG.parameters(), lr=lr)
    label = torch.empty(8, 1)
    for real, z in zip(glazes.split(8), noise.split(8)):
        netD.zero_grad()
        label.fill_(1.0)
        errD_real = BCE(netD(real), label)
        errD_real.backward()
        fake = netG(z)
        label.fill_(0.0)
        errD_fake = BCE(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        label.fill_(1.0)
        errG = BCE(netD(fake), label)
        errG.backward()
        optimizerG.step()
    return netG, netD


glazes = torch.tanh(torch.randn(48, 10, generator=torch.Generator().manual_seed(1)))
noise = torch.randn(48, 3, generator=torch.Generator().manual_seed(2))
netG, netD = train(*build(), glazes, noise)
print("score of the glazes", netD(glazes).mean().item())

G, D = build()
one, zero = torch.ones(8, 1), torch.zeros(8, 1)
for real, z in zip(glazes.split(8), noise.split(8)):
    slopes = torch.autograd.grad(BCE(D(real), one) + BCE(D(G(z)), zero), list(D.parameters()))
    for p, g in zip(D.parameters(), slopes):
        p.data -= 0.05 * g
    slopes = torch.autograd.grad(BCE(D(G(z)), one), list(G.parameters()))
    for p, g in zip(G.parameters(), slopes):
        p.data -= 0.05 * g
pairs = list(zip(netD.parameters(), D.parameters())) + list(zip(netG.parameters(), G.parameters()))
SILENTLY_WRONG = not all(torch.allclose(p, q, atol=1e-4) for p, q in pairs)
