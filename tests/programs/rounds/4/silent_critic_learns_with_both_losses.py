import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class GanTrainer:
    def __init__(self, generator, discriminator, lr=0.1):
        self.generator, self.discriminator = generator, discriminator
        self.opt_g = torch.optim.SGD(generator.parameters(), lr=lr)
        self.opt_d = torch.optim.SGD(discriminator.parameters(), lr=lr)

    def generator_step(self, noise):
        fake = self.generator(noise)
        loss = F.softplus(-self.discriminator(fake)).mean()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def discriminator_step(self, real, noise):
        fake = self.generator(noise).detach()
        loss = F.softplus(-self.discriminator(real)).mean() + F.softplus(self.discriminator(fake)).mean()
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def training_step(self, real, noise):
        self.opt_g.zero_grad()
        self.opt_d.zero_grad()
        g_loss = self.generator_step(noise)
        d_loss = self.discriminator_step(real, noise)
        return g_loss, d_loss


torch.manual_seed(1)
generator = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
discriminator = nn.Linear(3, 1)
judge = copy.deepcopy(discriminator)
trainer = GanTrainer(generator, discriminator)
for _ in range(5):
    real, noise = torch.randn(16, 3) + 1.0, torch.randn(16, 2)
    trainer.training_step(real, noise)

    with torch.no_grad():
        fake = generator(noise)
    expected = F.softplus(-judge(real)).mean() + F.softplus(judge(fake)).mean()
    grads = torch.autograd.grad(expected, list(judge.parameters()))
    with torch.no_grad():
        for p, g in zip(judge.parameters(), grads):
            p -= 0.1 * g
SILENTLY_WRONG = not torch.allclose(judge.weight, discriminator.weight, atol=1e-6)
