import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(0)
D = nn.Sequential(spectral_norm(nn.Linear(3, 6)), nn.LeakyReLU(0.2, inplace=True), spectral_norm(nn.Linear(6, 1)))
optimizer = torch.optim.Adam(D.parameters(), lr=1e-3)
for step in range(2):
    real, fake = torch.randn(5, 3), torch.randn(5, 3)
    loss = F.relu(1 - D(real)).mean() + F.relu(1 + D(fake)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
