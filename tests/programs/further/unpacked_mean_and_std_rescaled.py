import torch
import torch.nn as nn

torch.manual_seed(0)
enc, dec = nn.Linear(5, 4), nn.Linear(2, 5)


def encode(x):
    mu, log_std = enc(x).chunk(2, dim=-1)
    return mu, log_std.exp()


x = torch.randn(7, 5)
mu, std = encode(x)
std += 1e-4
z = mu + torch.randn(7, 2) * std
loss = (dec(z) - x).pow(2).mean()
loss.backward()
