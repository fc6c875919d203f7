import torch
import torch.nn as nn

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 6))
netD = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
optimizerG = torch.optim.Adam(netG.parameters(), lr=5e-4)
noise = torch.randn(5, 4)

fake = netG(noise)
for j in range(3):
    netG.zero_grad()
    errG = -netD(fake).mean()
    errG.backward(retain_graph=True)
    optimizerG.step()
