import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(True), nn.Linear(8, 6), nn.Tanh())
D = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 1))
opt_G = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_D = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
label = torch.full((8, 1), 1.0)

for step in range(2):
    real, noise = torch.randn(8, 6), torch.randn(8, 4)
    D.zero_grad()
    label.fill_(1.0)
    err_real = F.binary_cross_entropy_with_logits(D(real), label)
    err_real.backward()
    fake = G(noise)
    label.fill_(0.0)
    err_fake = F.binary_cross_entropy_with_logits(D(fake.detach()), label)
    err_fake.backward()
    opt_D.step()
    G.zero_grad()
    label.fill_(1.0)
    err_G = F.binary_cross_entropy_with_logits(D(fake), label)
    err_G.backward()
    opt_G.step()
