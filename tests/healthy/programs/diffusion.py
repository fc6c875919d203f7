import torch
import torch.nn.functional as F
from torch import nn

steps = 8
betas = torch.linspace(1e-3, 0.3, steps)
alphas = 1 - betas
kept = alphas.cumprod(0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(steps, 16)
        self.first, self.last = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 1, 3, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x, t):
        h = F.silu(self.norm(self.first(x)), inplace=True)
        h = h + self.time(t)[:, :, None, None]
        sequence = h.flatten(2).transpose(1, 2)
        mixed, _ = self.attention(sequence, sequence, sequence)
        h = h + mixed.transpose(1, 2).view_as(h)
        return self.last(h)


model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 2))
pictures = torch.rand(4, 1, 8, 8).mul_(2).sub_(1)
shadow = {name: value.detach().clone() for name, value in model.named_parameters()}
losses = []
# %%
for _ in range(3):
    t = torch.randint(steps, (4,))
    noise = torch.randn_like(pictures)
    level = kept[t].view(-1, 1, 1, 1)
    noisy = level.sqrt() * pictures + (1 - level).sqrt() * noise
    loss = F.mse_loss(model(noisy, t), noise)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    for name, value in model.named_parameters():
        shadow[name].mul_(0.9).add_(value.detach(), alpha=0.1)
    losses.append(loss.item())
# %%
backup = {name: value.detach().clone() for name, value in model.named_parameters()}
with torch.no_grad():
    for name, value in model.named_parameters():
        value.copy_(shadow[name])
    x = torch.randn(2, 1, 8, 8)
    for index in reversed(range(steps)):
        predicted = model(x, torch.full((2,), index))
        x -= betas[index] / (1 - kept[index]).sqrt() * predicted
        x /= alphas[index].sqrt()
        if index:
            x += betas[index].sqrt() * torch.randn_like(x)
    x.clamp_(-1, 1)
    for name, value in model.named_parameters():
        value.copy_(backup[name])
