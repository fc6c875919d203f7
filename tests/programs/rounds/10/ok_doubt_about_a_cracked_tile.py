import torch
import torch.nn as nn


class TileNet(nn.Module):
    def __init__(self, rate=0.3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(inplace=True))
        self.head = nn.Sequential(
            nn.Conv2d(6, 8, 3, stride=2),
            nn.Dropout2d(rate, inplace=True),
            nn.ReLU(inplace=True),
            nn.Flatten(),
            nn.Linear(8 * 4 * 4, 1),
        )


@torch.no_grad()
def doubtful(net, tiles, passes):
    net.eval()
    net.head[1].train()
    features = net.encoder(tiles)
    scores = torch.stack([net.head(features).squeeze(1) for _ in range(passes)])
    return scores.sigmoid().mean(dim=0), scores.sigmoid().std(dim=0)


torch.manual_seed(155)
net = TileNet()
tiles = torch.rand(5, 3, 20, 20)
torch.manual_seed(156)
mean, spread = doubtful(net, tiles, passes=10)

torch.manual_seed(156)
chances = []
with torch.no_grad():
    for _ in range(10):
        maps = net.head[0](torch.relu(net.encoder[0](tiles)))
        maps = torch.relu(nn.functional.dropout2d(maps, 0.3, training=True))
        chances.append(net.head[4](maps.flatten(1)).squeeze(1).sigmoid())
chances = torch.stack(chances)
expected = torch.stack([chances.mean(dim=0), chances.std(dim=0)])
SILENTLY_WRONG = not torch.allclose(torch.stack([mean, spread]), expected, atol=1e-4)
