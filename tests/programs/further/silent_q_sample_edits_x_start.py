import torch
import torch.nn as nn
import torch.nn.functional as F

alphas = torch.linspace(0.99, 0.5, 10).cumprod(0)


def q_sample(x, t, noise):
    a = alphas[t].view(-1, 1)
    return x.mul_(a.sqrt()).add_((1 - a).sqrt() * noise)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 4))
x_start = torch.randn(8, 4)
honest = x_start.clone()
t = torch.randint(0, 10, (8,))
x_t = q_sample(x_start, t, torch.randn(8, 4))
loss = F.mse_loss(net(x_t), x_start)
loss.backward()
SILENTLY_WRONG = not torch.equal(x_start, honest)
