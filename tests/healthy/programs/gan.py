import torch
import torch.nn.functional as F
from torch import nn

latent = 8
generator = nn.Sequential(
    nn.ConvTranspose2d(latent, 16, 4, bias=False),
    nn.BatchNorm2d(16),
    nn.ReLU(True),
    nn.ConvTranspose2d(16, 3, 4, 2, 1, bias=False),
    nn.Tanh(),
)
discriminator = nn.Sequential(
    nn.Conv2d(3, 16, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(16, 32, 3, 1, 1, bias=False),
    nn.BatchNorm2d(32),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(32, 1, 4, bias=False),
    nn.Sigmoid(),
)


def initialise(module):
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight.data, 0.0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight.data, 1.0, 0.02)
        nn.init.constant_(module.bias.data, 0)


generator.apply(initialise)
discriminator.apply(initialise)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
fixed_noise = torch.randn(2, latent, 1, 1)
data = torch.rand(3, 4, 3, 8, 8).mul_(2).sub_(1)
pictures, losses = [], []
# %%
for real in data:
    label = torch.full((4,), 0.9)
    discriminator.zero_grad()
    output = discriminator(real).view(-1)
    loss_real = F.binary_cross_entropy(output, label)
    loss_real.backward()
    real_mean = output.mean().item()
    noise = torch.randn(4, latent, 1, 1)
    fake = generator(noise)
    label.fill_(0.0)
    output = discriminator(fake.detach()).view(-1)
    loss_fake = F.binary_cross_entropy(output, label)
    loss_fake.backward()
    loss_d = loss_real + loss_fake
    optimizer_d.step()
    generator.zero_grad()
    label.fill_(1.0)
    output = discriminator(fake).view(-1)
    loss_g = F.binary_cross_entropy(output, label)
    loss_g.backward()
    optimizer_g.step()
    losses.append((loss_d.item(), loss_g.item(), real_mean))
# %%
generator.eval()
with torch.no_grad():
    picture = generator(fixed_noise).add_(1).div_(2).clamp_(0, 1)
pictures.append(picture)
