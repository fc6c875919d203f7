import torch
from torch import nn


class WaveFunction(nn.Module):
    def __init__(self, electrons):
        super().__init__()
        self.exponents = nn.Parameter(torch.linspace(0.5, 1.0, electrons))
        self.jastrow = nn.Sequential(nn.Linear(3 * electrons, 4), nn.Tanh(), nn.Linear(4, 1))

    def forward(self, positions):
        radii = positions.view(len(positions), -1, 3).norm(dim=-1)
        return torch.exp(-(radii * self.exponents).sum(-1)) * torch.exp(self.jastrow(positions)).squeeze(-1)


class Sampler(nn.Module):
    def __init__(self, electrons, size=0.3):
        super().__init__()
        self.electrons = electrons
        self.size = nn.Parameter(torch.tensor(size))

    def forward(self, wave, positions):
        values = [wave(positions)]
        for electron in range(self.electrons):
            move = torch.randn(len(positions), 3)
            positions[:, 3 * electron : 3 * electron + 3] += self.size * move
            values.append(wave(positions))
        return torch.stack(values)


torch.manual_seed(9)
wave, sampler = WaveFunction(2), Sampler(2)
values = sampler(wave, torch.randn(4, 6))
loss = (values[1:] / values[:-1].detach() - 1).pow(2).mean()
loss.backward()
