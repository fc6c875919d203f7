import torch
from torch import nn

critic = nn.Sequential(
    nn.utils.parametrizations.spectral_norm(nn.Linear(6, 16)),
    nn.LeakyReLU(0.2, inplace=True),
    nn.utils.parametrizations.spectral_norm(nn.Linear(16, 1)),
)
generator = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(inplace=True), nn.Linear(16, 6))
average = torch.optim.swa_utils.AveragedModel(
    generator, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True
)
optimizer_c = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
optimizer_g = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
real = torch.randn(8, 6)
losses = []
# %%
for _ in range(3):
    for _ in range(2):
        with torch.no_grad():
            fake = generator(torch.randn(8, 4))
        mix = torch.rand(8, 1)
        between = (mix * real + (1 - mix) * fake).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        penalty = (slope.norm(2, dim=1) - 1).square().mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizer_c.zero_grad()
        loss.backward()
        optimizer_c.step()
    critic.requires_grad_(False)
    loss_g = -critic(generator(torch.randn(8, 4))).mean()
    optimizer_g.zero_grad()
    loss_g.backward()
    optimizer_g.step()
    critic.requires_grad_(True)
    average.update_parameters(generator)
    losses += [loss.item(), loss_g.item()]
with torch.no_grad():
    for weight in critic.parameters():
        weight.clamp_(-1, 1)
