import torch
import torch.nn as nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(2, 6), nn.ReLU(inplace=True), nn.Linear(6, 3))
critic = nn.Sequential(nn.Linear(3, 6), nn.LeakyReLU(0.2, inplace=True), nn.Linear(6, 1))
opt_G, opt_C = (torch.optim.RMSprop(m.parameters(), lr=0.01) for m in (G, critic))
for step in range(2):
    real = torch.randn(8, 3)
    for _ in range(2):
        opt_C.zero_grad()
        fake = G(torch.randn(8, 2)).detach()
        loss_C = critic(fake).mean() - critic(real).mean()
        loss_C.backward()
        opt_C.step()
        for p in critic.parameters():
            p.data.clamp_(-0.05, 0.05)
    opt_G.zero_grad()
    loss_G = -critic(G(torch.randn(8, 2))).mean()
    loss_G.backward()
    opt_G.step()
