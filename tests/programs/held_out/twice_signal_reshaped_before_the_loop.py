import torch
from torch import nn

torch.manual_seed(0)
raw = torch.randn(4, 1, 12)
to_channels = nn.Conv1d(1, 3, 1)
denoiser = nn.Sequential(nn.Conv1d(3, 4, 3, padding=1), nn.SiLU(), nn.Conv1d(4, 3, 3, padding=1))
optimizer = torch.optim.Adam(denoiser.parameters(), lr=1e-2)


def training_loss(clean):
    noise, time = torch.randn_like(clean), torch.rand(len(clean), 1, 1)
    return nn.functional.mse_loss(denoiser(clean * (1 - time) + noise * time), noise)


signals = to_channels(raw)
for step in range(3):
    loss = training_loss(signals)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
