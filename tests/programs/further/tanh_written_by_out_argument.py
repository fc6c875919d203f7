import torch
import torch.nn as nn

torch.manual_seed(0)
enc, dec = nn.Linear(4, 3), nn.Linear(3, 4)
x = torch.randn(5, 4)

hidden = torch.tanh(enc(x))
recon = dec(hidden)
loss = (recon - x).pow(2).mean()
with torch.no_grad():
    torch.mul(hidden, 0.5, out=hidden)
    sparsity = hidden.abs().mean()
loss.backward()
