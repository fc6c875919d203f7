import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.GRU(2, 3, batch_first=True)
frames = nn.Linear(3, 2)
critic = nn.Sequential(nn.Linear(2, 5), nn.LeakyReLU(0.2), nn.Linear(5, 1))
optimizers = {
    "netD": torch.optim.Adam(critic.parameters(), lr=1e-3),
    "netG": torch.optim.Adam([*generator.parameters(), *frames.parameters()], lr=1e-3),
}


def step_losses(video):
    predicted = frames(generator(video)[0])
    fake, real = critic(predicted), critic(video)
    stopped = critic(predicted.detach())
    return {
        "netD": F.softplus(stopped).mean() + F.softplus(-real).mean(),
        "netG": F.mse_loss(predicted, video) + 0.1 * F.softplus(-fake).mean(),
    }


for video in torch.randn(2, 3, 4, 2):
    losses = step_losses(video)
    for name in ("netD", "netG"):
        optimizers[name].zero_grad()
        losses[name].backward()
        optimizers[name].step()
