import torch
import torch.nn as nn


class Occlusion:
    def __init__(self, net, side, filler=0.5):
        self.net, self.side, self.filler = net, side, filler

    @torch.no_grad()
    def map(self, image, kind):
        whole = self.net(image[None])[0, kind]
        rows, columns = (size // self.side for size in image.shape[1:])
        drops = torch.zeros(rows, columns)
        for i in range(rows):
            for j in range(columns):
                patch = image[:, i * self.side:(i + 1) * self.side, j * self.side:(j + 1) * self.side]
                kept = patch.clone()
                patch.fill_(self.filler)
                drops[i, j] = whole - self.net(image[None])[0, kind]
                patch.copy_(kept)
        return drops


torch.manual_seed(311)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(4 * 10 * 10, 3))
photos = torch.rand(2, 3, 12, 12)
given = photos.clone()
occlusion = Occlusion(net, side=4)
maps = torch.stack([occlusion.map(photo, kind) for photo, kind in zip(photos, (1, 2))])

expected = torch.zeros(2, 3, 3)
with torch.no_grad():
    for n, kind in ((0, 1), (1, 2)):
        for i in range(3):
            for j in range(3):
                cover = torch.zeros(12, 12, dtype=torch.bool)
                cover[4 * i:4 * i + 4, 4 * j:4 * j + 4] = True
                pair = torch.stack([given[n], given[n].masked_fill(cover, 0.5)])
                scores = net(pair)[:, kind]
                expected[n, i, j] = scores[0] - scores[1]
SILENTLY_WRONG = not torch.allclose(maps, expected, atol=1e-5)
