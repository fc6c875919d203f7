import torch
import torch.nn as nn

torch.manual_seed(0)
chains, energy = torch.randn(8, 2), nn.Linear(2, 1)
opt = torch.optim.SGD(energy.parameters(), lr=0.01)
data = torch.randn(4, 2)
for epoch in range(3):
    for i in range(0, 8, 4):
        chain = chains[i : i + 4]
        with torch.no_grad():
            chain -= 0.1 * energy.weight
            chain += 0.05 * torch.randn_like(chain)
            chain *= 0.99
        loss = energy(data).mean() - energy(chain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
