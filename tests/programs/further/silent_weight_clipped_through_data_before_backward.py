import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
real, fake = torch.randn(8, 3), torch.randn(8, 3)
first = critic[0].weight


def w_loss():
    return critic(fake).mean() - critic(real).mean()


reference = torch.autograd.grad(w_loss(), first)[0]

loss = w_loss()
for p in critic.parameters():
    p.data.clamp_(-0.05, 0.05)
loss.backward()
SILENTLY_WRONG = not torch.allclose(first.grad, reference)
