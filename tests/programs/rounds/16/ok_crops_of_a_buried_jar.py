import numpy as np
import torch


def standardised(image):
    values = np.asarray(image).astype(np.float32)
    values -= values.mean()
    values /= max(values.std(), 1e-6)
    return values


class CropCache:
    def __init__(self, volume, side, margin):
        self.volume, self.side, self.margin = volume, side, margin
        self.blocks = {}

    def get(self, centre):
        z, y, x = [c // self.side * self.side for c in centre]
        if (z, y, x) not in self.blocks:
            reach = self.side + self.margin
            self.blocks[z, y, x] = self.volume[z:z + reach, y:y + reach, x:x + reach].clone()
        block = self.blocks[z, y, x]
        a, b, c = centre[0] - z, centre[1] - y, centre[2] - x
        return block[a:a + self.margin, b:b + self.margin, c:c + self.margin]


def clay_scores(cache, centres, probe):
    scores = []
    for centre in centres:
        crop = torch.from_numpy(standardised(cache.get(centre).numpy()))
        crop.mul_(probe)
        scores.append(crop.sum())
    return torch.stack(scores)


torch.manual_seed(33)
volume = torch.rand(16, 16, 16) * 3 + torch.arange(16.0)[:, None, None]
probe = torch.randn(4, 4, 4)
centres = [(1, 2, 2), (2, 3, 2), (3, 2, 4), (9, 1, 8), (10, 2, 9)]
scores = clay_scores(CropCache(volume, side=8, margin=4), centres, probe)

expected = []
for z, y, x in centres:
    crop = volume[z:z + 4, y:y + 4, x:x + 4].double()
    crop = (crop - crop.mean()) / crop.std(correction=0)
    expected.append((crop * probe).sum())
SILENTLY_WRONG = not torch.allclose(scores.double(), torch.stack(expected), atol=1e-3)
