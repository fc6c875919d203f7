import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
disc = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.LeakyReLU(0.2, inplace=True), nn.Linear(6, 1))
optimizer = torch.optim.Adam(disc.parameters(), lr=1e-3)
for step in range(2):
    real, fake = torch.randn(8, 3) + 1, torch.randn(8, 3)
    on_real = disc(real)
    on_fake = disc(fake)
    loss = F.softplus(-on_real).mean() + F.softplus(on_fake).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    disc.eval()
    with torch.no_grad():
        scores = disc(fake)
    disc.train()
