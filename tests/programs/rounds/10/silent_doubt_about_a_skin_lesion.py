import torch
import torch.nn as nn


class LesionNet(nn.Module):
    def __init__(self, rate=0.3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(inplace=True))
        self.head = nn.Sequential(
            nn.Dropout2d(rate, inplace=True),
            nn.Conv2d(8, 8, 3, stride=2),
            nn.ReLU(inplace=True),
            nn.Flatten(),
            nn.LazyLinear(1),
        )


@torch.no_grad()
def doubtful(net, photographs, passes):
    net.eval()
    net.head[0].train()
    features = net.encoder(photographs)
    scores = torch.stack([net.head(features).squeeze(1) for _ in range(passes)])
    chances = scores.sigmoid()
    return chances.mean(dim=0), chances.std(dim=0)


torch.manual_seed(55)
net = LesionNet()
photographs = torch.rand(6, 3, 20, 20)
with torch.no_grad():
    net.head(net.encoder(photographs))
torch.manual_seed(56)
mean, spread = doubtful(net, photographs, passes=12)

torch.manual_seed(56)
chances = []
with torch.no_grad():
    for _ in range(12):
        features = net.encoder(photographs)
        chances.append(net.head(features).squeeze(1).sigmoid())
chances = torch.stack(chances)
expected = torch.stack([chances.mean(dim=0), chances.std(dim=0)])
SILENTLY_WRONG = not torch.allclose(torch.stack([mean, spread]), expected, atol=1e-4)
