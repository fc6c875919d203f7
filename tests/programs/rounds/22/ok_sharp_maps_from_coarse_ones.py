import torch
from torch import nn


def build():
    torch.manual_seed(80)
    generator = nn.Linear(4, 16)
    discriminator = nn.Sequential(nn.Linear(16, 6), nn.Tanh(), nn.Linear(6, 1))
    return generator, discriminator


def bce(logits, value):
    return nn.functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, value))


def generator_loss(sr, hr, discriminator):
    return (sr - hr).square().mean() + 0.01 * bce(discriminator(sr), 1.0)


def discriminator_loss(sr, hr, discriminator):
    return bce(discriminator(hr), 1.0) + bce(discriminator(sr), 0.0)


def train(generator, discriminator, pairs, lr=0.1):
    g_optimizer = torch.optim.SGD(generator.parameters(), lr=lr)
    d_optimizer = torch.optim.SGD(discriminator.parameters(), lr=lr)
    for lr_map, hr in pairs:
        for p in discriminator.parameters():
            p.requires_grad = False
        generator.zero_grad(set_to_none=True)
        sr = generator(lr_map)
        generator_loss(sr, hr, discriminator).backward()
        g_optimizer.step()

        for p in discriminator.parameters():
            p.requires_grad = True
        discriminator.zero_grad(set_to_none=True)
        discriminator_loss(sr.detach().clone(), hr, discriminator).backward()
        d_optimizer.step()


torch.manual_seed(81)
sharp = torch.randn(10, 6, 16)
pairs = [(hr.view(6, 4, 4).mean(dim=2), hr) for hr in sharp]
generator, discriminator = build()
train(generator, discriminator, pairs)
print("weights", generator.weight.norm().item(), discriminator[0].weight.norm().item())

G, D = build()
for lr_map, hr in pairs:
    sr = G(lr_map)
    slopes = torch.autograd.grad(generator_loss(sr, hr, D), list(G.parameters()))
    for p, g in zip(G.parameters(), slopes):
        p.data -= 0.1 * g
    slopes = torch.autograd.grad(discriminator_loss(sr.detach(), hr, D), list(D.parameters()))
    for p, g in zip(D.parameters(), slopes):
        p.data -= 0.1 * g
SILENTLY_WRONG = not (torch.allclose(G.weight, generator.weight, atol=1e-5)
                      and torch.allclose(D[0].weight, discriminator[0].weight, atol=1e-5))
