import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
codebook, size = torch.randn(5, 2), torch.ones(5)
total = codebook.clone()
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-2)
for _ in range(3):
    x = torch.randn(6, 4)
    z = encoder(x)
    code = torch.cdist(z.detach(), codebook).argmin(1)
    q = codebook[code]
    loss = F.mse_loss(decoder(z + (q - z).detach()), x) + 0.25 * F.mse_loss(z, q)
    opt.zero_grad()
    loss.backward()
    opt.step()
    hits = F.one_hot(code, 5).float()
    size.mul_(0.9).add_(hits.sum(0), alpha=0.1)
    total.mul_(0.9).add_(hits.T @ z.detach(), alpha=0.1)
    codebook.copy_(total / size.clamp(min=1e-2).unsqueeze(1))
    dead = size < 0.2
    codebook[dead] = z.detach()[: int(dead.sum())]
