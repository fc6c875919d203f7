import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.SiLU(inplace=True), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
alphas = torch.linspace(0.99, 0.5, 5).cumprod(0)
for _ in range(2):
    clean, noise, t = torch.randn(6, 4), torch.randn(6, 4), torch.randint(0, 5, (6,))
    a = alphas[t].unsqueeze(1)
    noisy = clean.clone()
    noisy.mul_(a.sqrt()).add_((1 - a).sqrt() * noise)
    loss = (net(torch.cat([noisy, t[:, None] / 5], dim=1)) - noise).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

x = torch.randn(3, 4)
with torch.no_grad():
    for t in reversed(range(5)):
        eps = net(torch.cat([x, torch.full((3, 1), t / 5)], dim=1))
        x.sub_((1 - alphas[t]).sqrt() * eps).div_(alphas[t].sqrt())
        x.clamp_(-3, 3)
