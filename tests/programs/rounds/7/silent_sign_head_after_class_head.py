import torch
import torch.nn as nn


class GalaxyNet(nn.Module):
    def __init__(self, bands=7, width=12):
        super().__init__()
        self.stem = nn.Linear(bands, width)
        self.kind = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(width, 4))
        self.rotation = nn.Linear(width, 1)

    def forward(self, flux):
        features = self.stem(flux)
        kind = self.kind(features)
        rotation = self.rotation(features)
        return kind, rotation[:, 0]


torch.manual_seed(13)
net = GalaxyNet()
flux = torch.randn(64, 7)
kind_label = torch.randint(0, 4, (64,))
spin = torch.sin(flux[:, 0] - flux[:, 3])
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(30):
    kind, rotation = net(flux)
    loss = nn.functional.cross_entropy(kind, kind_label) + (rotation - spin).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    _, rotation = net(flux)
    direct = (flux @ net.stem.weight.T + net.stem.bias) @ net.rotation.weight[0] + net.rotation.bias
SILENTLY_WRONG = not torch.allclose(rotation, direct, atol=1e-5)
