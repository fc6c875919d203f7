import torch
from torch import nn

MEAN, STD = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.1, 0.1])


def denormalize(tiles):
    tiles = tiles.clone()
    for k in range(tiles.shape[1]):
        tiles[:, k].mul_(STD[k]).add_(MEAN[k])
    return tiles.clamp_(0, 1)


torch.manual_seed(49)
photos = torch.rand(3, 3, 8, 8)
moss = nn.Conv2d(3, 1, 3).eval()
tiles = photos.clone()
for k in range(3):
    tiles[:, k].sub_(MEAN[k]).div_(STD[k])
shown = denormalize(tiles)
with torch.no_grad():
    found = moss(tiles).amax(dim=(1, 2, 3))
print("moss", found.tolist(), "brightest", shown.max().item())

with torch.no_grad():
    expected = moss((photos - MEAN[:, None, None]) / STD[:, None, None]).amax(dim=(1, 2, 3))
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-4)
